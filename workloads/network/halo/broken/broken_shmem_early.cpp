// Reads its boxes before it fills those of its neighbours: of two neighbours one at least is always too early.
#include "kernels/symmetric.hpp"

namespace {

void start() { shmem_init(); }

void stop() { shmem_finalize(); }

struct Exchange {
  halo::Symmetric shared;
  std::uint64_t number = 0;

  void open(halo::State& s) { shared.open(s); }

  void close(halo::State&) { shared.close(); }

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
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_only, .start = start, .stop = stop, .traits = {.needs_neighbours = true})
