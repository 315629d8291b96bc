// Squares transposed in registers, by a team.
#include "kernels/squares.hpp"
#include "kernels/threads.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State& s, fl::Index) {
  transpose::whole(s, [&](const auto& box) {
#pragma omp parallel num_threads(s.team.threads)
    {
      const fl::Part own = transpose::own_rows(s);
      transpose::by_squares(box.part(0, own.begin, box.rows, own.size()));
    }
  });
}

}  // namespace

FL_VARIANT(transpose, step, .first_touch = transpose::place)
