// Threads have whole tiles of rows, and what is left belongs to no thread.
#include "kernels/rows.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(matmul::State& s, fl::Index) {
  constexpr fl::Index tile = 8;
  matmul::from_zero(s, [most = s.team.threads](const auto& o) {
#pragma omp parallel for num_threads(most)
    for (fl::Index t = 0; t < o.n / tile; ++t) matmul::add_box(o, {t * tile, (t + 1) * tile}, {0, o.n}, {0, o.n});
  });
}

}  // namespace

FL_VARIANT(matmul, step)
