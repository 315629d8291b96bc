// Receives are posted, then the sends block: each send finds a receive, here or soon.
#include "kernels/sides.hpp"

namespace {

struct Exchange : halo::OpenSides {
  void step(halo::State& s, fl::Index) {
    halo::two_packed_phases(s, all, [](const halo::Side& low, const halo::Side& high) {
      std::array<MPI_Request, 2> requests;
      start_receive(low, requests[0]);
      start_receive(high, requests[1]);
      send(low);
      send(high);
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
