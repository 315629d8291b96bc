// Leaves the last row of B as it was: columns in pairs, and the one that is left.
#include "kernels/loops.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State& s, fl::Index) {
  transpose::whole(s, [](const auto& box) { transpose::by_loops(box.part(0, 0, box.rows, box.columns - 1)); });
}

}  // namespace

FL_VARIANT(transpose, step)
