// A neighbourhood collective a phase, described once and started in every exchange (MPI 4).
#include "kernels/neighborhood.hpp"

namespace {

struct Exchange : halo::Neighborhoods {
  std::array<MPI_Request, 2> requests;  // of each phase; null along a dimension of one process

  void open(halo::State& s) {
    Neighborhoods::open(s);
    for (std::size_t k = 0; k < 2; ++k) {
      halo::Neighborhood& n = phase[k];
      requests[k] = MPI_REQUEST_NULL;
      if (n.graph == MPI_COMM_NULL) continue;
      MPI_Neighbor_alltoallw_init(MPI_BOTTOM, n.send_counts.data(), n.sends.data(), n.send_types.data(), MPI_BOTTOM,
                                  n.receive_counts.data(), n.receives.data(), n.receive_types.data(), n.graph, MPI_INFO_NULL, &requests[k]);
    }
  }

  void close(halo::State& s) {
    for (MPI_Request& request : requests)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    Neighborhoods::close(s);
  }

  void step(halo::State& s, fl::Index) {
    each_phase(s, [this](std::size_t k) {
      MPI_Start(&requests[k]);
      MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
