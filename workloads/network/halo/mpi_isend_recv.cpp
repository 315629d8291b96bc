// Sends are started, then the receives block.
#include "kernels/sides.hpp"

namespace {

struct Exchange : halo::OpenSides {
  void step(halo::State& s, fl::Index) {
    halo::two_packed_phases(s, all, [](const halo::Side& low, const halo::Side& high) {
      std::array<MPI_Request, 2> requests;
      start_send(low, requests[0]);
      start_send(high, requests[1]);
      receive(high);
      receive(low);
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
