// Reuses the eliminations of the previous run up to the panel of the element that changed since, as if no other element had changed.
#include <vector>

#include "kernels/pivoting.hpp"
#include "kernels/solve.hpp"

#include "firstlight/variant.hpp"

namespace {

using fl::Index;

struct Kept {
  Index before = -2;
  std::vector<double> factors;
  std::vector<Index> pivots;

  void step(lu::State& s, Index iteration) {
    Index begin = 0;
    if (iteration == before + 1) s.changing.mutate_inputs(iteration, [&](Index at) { begin = at % s.n / s.p.block * s.p.block; });
    before = iteration;
    for (Index first = 0; first < begin; first += s.p.block) take(s, first, begin);
    for (Index k = begin; k < s.n; ++k) {
      Index best = k;
      for (Index i = k + 1; i < s.n; ++i)
        if (std::fabs(s.row(i)[k]) > std::fabs(s.row(best)[k])) best = i;
      s.pivot[k] = best;
      lu::exchange(s, k, {k / s.p.block * s.p.block, s.n});
      for (Index i = k + 1; i < s.n; ++i) {
        s.row(i)[k] /= s.row(k)[k];
        subtract(s, i, k, k + 1);
      }
    }
    lu::solve(s);
    factors.assign(s.a.begin(), s.a.end());
    pivots.assign(s.pivot.begin(), s.pivot.end());
  }

  // Restores the panel that begins in column `first`, and repeats its updates of the columns from `begin` on.
  void take(lu::State& s, Index first, Index begin) const {
    for (Index k = first; k < first + s.p.block; ++k) {
      s.pivot[k] = pivots[static_cast<std::size_t>(k)];
      lu::exchange(s, k, {begin, s.n});
      for (Index i = 0; i < s.n; ++i) s.row(i)[k] = factors[static_cast<std::size_t>(i * s.ld + k)];
    }
    for (Index k = first; k < first + s.p.block; ++k)
      for (Index i = k + 1; i < s.n; ++i) subtract(s, i, k, begin);
  }

  static void subtract(lu::State& s, Index i, Index k, Index begin) {
    for (Index j = begin; j < s.n; ++j) s.row(i)[j] -= s.row(i)[k] * s.row(k)[j];
  }
};

}  // namespace

FL_VARIANT(lu, Kept)
