// As mpi_irecv_isend_waitall, but receives are posted before anything is packed, and what comes first is unpacked first.
#include "kernels/sides.hpp"

namespace {

struct Exchange : halo::OpenSides {
  void step(halo::State& s, fl::Index) {
    halo::two_phases(s, all, [&](const halo::Side& low, const halo::Side& high) {
      std::array<MPI_Request, 2> arriving, leaving;
      start_receive(low, arriving[0]);
      start_receive(high, arriving[1]);
      pack(s, low);
      start_send(low, leaving[0]);
      pack(s, high);
      start_send(high, leaving[1]);
      for (int left = 2; left > 0; --left) {
        int which = 0;
        MPI_Waitany(2, arriving.data(), &which, MPI_STATUS_IGNORE);
        unpack(s, which == 0 ? low : high);
      }
      MPI_Waitall(2, leaving.data(), MPI_STATUSES_IGNORE);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
