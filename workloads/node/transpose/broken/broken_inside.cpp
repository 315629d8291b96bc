// Squares stand where they should, and are not transposed inside.
#include "kernels/loops.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State& s, fl::Index) {
  constexpr fl::Index side = 4;
  transpose::whole(s, [](const auto& box) {
    transpose::by_loops(box);
    for (fl::Index i = 0; i + side <= box.rows; i += side)
      for (fl::Index j = 0; j + side <= box.columns; j += side)
        for (fl::Index k = 0; k < side; ++k) std::copy_n(box.a + (i + k) * box.a_row + j, side, box.b + (j + k) * box.b_row + i);
  });
}

}  // namespace

FL_VARIANT(transpose, step)
