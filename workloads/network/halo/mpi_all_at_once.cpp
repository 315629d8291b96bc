// No phases: eight messages at once, the corners on their own to the diagonal neighbours. Four messages more, one latency less.
#include "kernels/sides.hpp"

namespace {

struct Exchange : halo::OpenSides {
  void step(halo::State& s, fl::Index) {
    std::array<MPI_Request, 2 * halo::directions> requests;
    int count = 0;
    for (const halo::Side& side : all.side)
      if (!side.here) start_receive(side, requests[static_cast<std::size_t>(count++)]);
    for (const halo::Side& side : all.side) {
      if (side.here) {
        copy_here(s, side, all.side[halo::opposite(side.way)]);
      } else {
        pack(s, side);
        start_send(side, requests[static_cast<std::size_t>(count++)]);
      }
    }
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    for (const halo::Side& side : all.side)
      if (!side.here) unpack(s, side);
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place, .traits = {.at_once = true})
