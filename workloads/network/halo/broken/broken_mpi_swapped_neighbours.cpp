// Wrong: what comes from one neighbour is put where the opposite one's words belong.
#include "kernels/sides.hpp"

namespace {

struct Exchange {
  halo::Sides all;

  void open(halo::State& s) {
    all.open(s);
    for (std::size_t way = 0; way < halo::sides; way += 2) std::swap(all.side[way].in, all.side[way + 1].in);
  }

  void close(halo::State&) { all.close(); }

  void step(halo::State& s, fl::Index) {
    halo::two_packed_phases(s, all, [](const halo::Side& low, const halo::Side& high) { halo::exchange(low, high); });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_only)
