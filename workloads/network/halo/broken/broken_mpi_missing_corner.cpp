// Wrong: the second phase leaves out the corners that the first one brought.
#include "kernels/sides.hpp"

namespace {

struct Exchange : halo::OpenSides {
  void open(halo::State& s) {
    OpenSides::open(s);
    for (const std::size_t way : {halo::west, halo::east}) {
      halo::Side& side = all.side[way];
      side.out = boundary(s, side.way);
      side.in = ghost(s, side.way);
      side.send.count = side.receive.count = static_cast<int>(side.out.words());
    }
  }

  void step(halo::State& s, fl::Index) {
    halo::two_packed_phases(s, all, [](const halo::Side& low, const halo::Side& high) { halo::exchange(low, high); });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_only)
