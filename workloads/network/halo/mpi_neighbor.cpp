// A neighbourhood collective a phase, blocking.
#include "kernels/neighborhood.hpp"

namespace {

struct Exchange {
  halo::Neighborhoods around;

  void open(halo::State& s) { around.open(s); }

  void close(halo::State&) { around.close(); }

  void step(halo::State& s, fl::Index) {
    around.step(s, [this](std::size_t k) {
      halo::Neighborhood& n = around.phase[k];
      MPI_Neighbor_alltoallw(MPI_BOTTOM, n.send_counts.data(), n.sends.data(), n.send_types.data(), MPI_BOTTOM, n.receive_counts.data(),
                             n.receives.data(), n.receive_types.data(), n.graph);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
