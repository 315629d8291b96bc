// A neighbourhood collective a phase, blocking.
#include "kernels/neighborhood.hpp"

namespace {

struct Exchange : halo::Neighborhoods {
  void step(halo::State& s, fl::Index) {
    each_phase(s, [this](std::size_t k) {
      halo::Neighborhood& n = phase[k];
      MPI_Neighbor_alltoallw(MPI_BOTTOM, n.send_counts.data(), n.sends.data(), n.send_types.data(), MPI_BOTTOM, n.receive_counts.data(),
                             n.receives.data(), n.receive_types.data(), n.graph);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
