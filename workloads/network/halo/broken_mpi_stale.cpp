// Wrong: packs after it has sent, so that neighbours get what was true one exchange earlier.
#include "sides.hpp"

namespace {

halo::Sides all;

void prepare(halo::State& s) { all.open(s); }
void finish(halo::State&) { all.close(); }

void step(halo::State& s, fl::Index) {
  halo::two_phases(s, all, [&](const halo::Side& low, const halo::Side& high) {
    halo::exchange(low, high);
    for (const halo::Side* side : {&low, &high}) {
      unpack(s, *side);
      pack(s, *side);
    }
  });
}

}  // namespace

FL_VARIANT(halo, step, .refuse = FL_REFUSE(halo, halo::packed_only), .setup = FL_HOOK(halo, prepare), .finish = FL_HOOK(halo, finish),
           .traits = halo::among_several)
