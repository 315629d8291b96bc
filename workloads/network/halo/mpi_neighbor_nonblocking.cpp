// A neighbourhood collective a phase, started and waited for.
#include "kernels/neighborhood.hpp"

namespace {

struct Exchange : halo::Neighborhoods {
  void step(halo::State& s, fl::Index) {
    each_phase(s, [this](std::size_t k) {
      halo::Neighborhood& n = phase[k];
      MPI_Request request;
      MPI_Ineighbor_alltoallw(MPI_BOTTOM, n.send_counts.data(), n.sends.data(), n.send_types.data(), MPI_BOTTOM, n.receive_counts.data(),
                              n.receives.data(), n.receive_types.data(), n.graph, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
