// Column after column, as in textbooks.
#include "tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(lu::State& s, fl::Index) {
  const lu::Columns all{0, s.n};
  for (fl::Index k = 0; k < s.n; ++k) {
    fl::Index best = k;
    for (fl::Index i = k + 1; i < s.n; ++i)
      if (std::fabs(s.row(i)[k]) > std::fabs(s.row(best)[k])) best = i;
    s.pivot[k] = best;
    lu::exchange(s, k, all);
    lu::eliminate(s, k, all);
  }
  lu::solve(s);
}

}  // namespace

FL_VARIANT(lu, step)
