// Squares of lines, transposed in registers.
#include "kernels/squares.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State& s, fl::Index) {
  transpose::whole(s, [](const auto& box) { transpose::by_squares(box); });
}

}  // namespace

FL_VARIANT(transpose, step)
