// MPI_Sendrecv, one shift after the other: the measure of every other strategy.
#include "kernels/sides.hpp"

namespace {

// Leaves on one side, arrives on the other.
void shift(const halo::Side& from, const halo::Side& to) {
  MPI_Sendrecv(from.send.data, from.send.count, from.send.type, from.peer, from.out_tag, to.receive.data, to.receive.count, to.receive.type,
               to.peer, to.in_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

struct Exchange : halo::OpenSides {
  void step(halo::State& s, fl::Index) {
    halo::two_packed_phases(s, all, [](const halo::Side& low, const halo::Side& high) {
      shift(low, high);
      shift(high, low);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
