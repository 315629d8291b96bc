// Moves only the elements that changed, found by following the mutate_inputs() of each step, and all of them if the output is poisoned.
#include "kernels/loops.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Changed {
  fl::Index before = -1;

  void step(transpose::State& s, fl::Index iteration) {
    transpose::whole(s, [&](const auto& box) {
      if (box.b[0] != box.b[0]) return transpose::by_loops(box);
      for (fl::Index i = before + 1; i <= iteration; ++i)  // includes the changes between batches
        s.changing.mutate_inputs(i, [&](fl::Index place) { transpose::by_loops(box.part(place / s.n, place % s.n, 1, 1)); });
    });
    before = iteration;
  }
};

}  // namespace

FL_VARIANT(transpose, Changed)
