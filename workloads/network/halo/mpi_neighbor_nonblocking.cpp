// A neighbourhood collective a phase, started and waited for.
#include "kernels/neighborhood.hpp"

namespace {

struct Exchange {
  halo::Neighborhoods around;

  void open(halo::State& s) { around.open(s); }

  void close(halo::State&) { around.close(); }

  void step(halo::State& s, fl::Index) {
    around.step(s, [this](std::size_t k) {
      halo::Neighborhood& n = around.phase[k];
      MPI_Request request;
      MPI_Ineighbor_alltoallw(MPI_BOTTOM, n.send_counts.data(), n.sends.data(), n.send_types.data(), MPI_BOTTOM, n.receive_counts.data(),
                              n.receives.data(), n.receive_types.data(), n.graph, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
