// Blocking sends and receives in red-black order: even places of a ring send first, odd ones receive first. In a ring of an odd number
// two even ones stand side by side; one waits until the other, whose neighbour is odd, has sent. No order of arrival can lock it.
#include "kernels/sides.hpp"

namespace {

// Leaves on one side, arrives on the other.
void shift(const halo::Side& from, const halo::Side& to, bool red) {
  if (red) send(from);
  receive(to);
  if (!red) send(from);
}

struct Exchange : halo::OpenSides {
  void step(halo::State& s, fl::Index) {
    const int me = s.domains[0].me, row = me / s.grid.columns, column = me % s.grid.columns;
    halo::two_packed_phases(s, all, [&](const halo::Side& low, const halo::Side& high) {
      const bool red = (low.way == halo::north ? row : column) % 2 == 0;
      shift(low, high, red);
      shift(high, low, red);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
