// Wrong: packs after it has sent, so that neighbours get what was true one exchange earlier.
#include "kernels/sides.hpp"

namespace {

struct Exchange : halo::OpenSides {
  void step(halo::State& s, fl::Index) {
    halo::two_phases(s, all, [&](const halo::Side& low, const halo::Side& high) {
      halo::exchange(low, high);
      for (const halo::Side* side : {&low, &high}) {
        unpack(s, *side);
        pack(s, *side);
      }
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_only, .traits = {.needs_neighbours = true})
