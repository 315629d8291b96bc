// Threads have whole squares of columns, and what is left belongs to no thread.
#include "kernels/loops.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State& s, fl::Index) {
  constexpr fl::Index side = 8;
  transpose::whole(s, [most = s.team.threads](const auto& box) {
#pragma omp parallel for num_threads(most)
    for (fl::Index j = 0; j < box.columns / side; ++j) transpose::by_loops(box.part(0, j * side, box.rows, side));
  });
}

}  // namespace

FL_VARIANT(transpose, step)
