// OpenSHMEM: put the words, fence, put a flag; the neighbour waits for the flag in its own memory.
#include "kernels/symmetric.hpp"

namespace {

void start() { shmem_init(); }

void stop() { shmem_finalize(); }

struct Exchange {
  halo::Symmetric shared;
  std::uint64_t number = 0;  // of the exchange

  void open(halo::State& s) { shared.open(s); }

  void close(halo::State&) { shared.close(); }

  void receive(const halo::State& s, const halo::Side& side) {
    shmem_uint64_wait_until(shared.flag(side.way), SHMEM_CMP_GE, number);
    take(s, shared, side, number);
  }

  void step(halo::State& s, fl::Index) {
    ++number;
    halo::two_phases(s, shared.sides, [&](const halo::Side& low, const halo::Side& high) {
      for (const halo::Side* side : {&low, &high}) {
        pack(s, *side);
        put(s, shared, *side, number);
      }
      receive(s, low);
      receive(s, high);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_only, .start = start, .stop = stop)
