// Blocks whose two sides fit into the first cache.
#include "kernels/loops.hpp"

#include "firstlight/variant.hpp"

namespace {

constexpr fl::Index side = 32;

void step(transpose::State& s, fl::Index) {
  transpose::whole(s, [](const auto& box) {
    for (fl::Index i = 0; i < box.rows; i += side)
      for (fl::Index j = 0; j < box.columns; j += side)
        transpose::by_loops(box.part(i, j, std::min(side, box.rows - i), std::min(side, box.columns - j)));
  });
}

}  // namespace

FL_VARIANT(transpose, step)
