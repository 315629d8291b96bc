// One element in the middle is the adjacent one.
#include "kernels/loops.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State& s, fl::Index) {
  transpose::whole(s, [](const auto& box) {
    transpose::by_loops(box);
    const fl::Index middle = box.rows / 2;
    box.b[middle * box.b_row + middle] = box.b[middle * box.b_row + middle - 1];
  });
}

}  // namespace

FL_VARIANT(transpose, step)
