// Column after column, as in textbooks.
#include "kernels/pivoting.hpp"
#include "kernels/solve.hpp"

#include "firstlight/variant.hpp"

namespace {

// Column k of rows below k, and what is left of the columns behind it.
void eliminate(lu::State& s, fl::Index k) {
  const double* above = s.row(k);
  const double factor = above[k];
  for (fl::Index i = k + 1; i < s.n; ++i) {
    double* row = s.row(i);
    const double l = row[k] /= factor;
    for (fl::Index j = k + 1; j < s.n; ++j) row[j] -= l * above[j];
  }
}

void step(lu::State& s, fl::Index) {
  for (fl::Index k = 0; k < s.n; ++k) {
    fl::Index best = k;
    for (fl::Index i = k + 1; i < s.n; ++i)
      if (std::fabs(s.row(i)[k]) > std::fabs(s.row(best)[k])) best = i;
    s.pivot[k] = best;
    lu::exchange(s, k, {k / s.p.block * s.p.block, s.n});
    eliminate(s, k);
  }
  lu::solve(s);
}

}  // namespace

FL_VARIANT(lu, step)
