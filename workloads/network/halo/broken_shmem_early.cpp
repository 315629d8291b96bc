// Takes what lies in its boxes before it fills those of its neighbours: of two neighbours one at least is always too early.
#include "symmetric.hpp"

namespace {

halo::Symmetric shared;
std::uint64_t number;

void start() { shmem_init(); }
void stop() { shmem_finalize(); }

void prepare(halo::State& s) {
  number = 0;
  shared.open(s);
}
void finish(halo::State&) { shared.close(); }

void step(halo::State& s, fl::Index) {
  ++number;
  halo::two_phases(s, shared.sides, [&](const halo::Side& low, const halo::Side& high) {
    for (const halo::Side* side : {&low, &high}) take(s, shared, *side, number);
    for (const halo::Side* side : {&low, &high}) {
      pack(s, *side);
      put(s, shared, *side, number);
    }
    for (const halo::Side* side : {&low, &high}) shmem_uint64_wait_until(shared.flag(side->way), SHMEM_CMP_GE, number);
  });
}

}  // namespace

FL_VARIANT(halo, step, .refuse = FL_REFUSE(halo, halo::packed_only), .setup = FL_HOOK(halo, prepare), .finish = FL_HOOK(halo, finish),
           .start = start, .stop = stop, .traits = halo::among_several)
