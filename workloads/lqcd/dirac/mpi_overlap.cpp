// Sites that need no halo are worked on while the messages are under way.
#include "kernels/mpi_steps.hpp"

namespace {

struct Operator : dirac::OnProcesses {
  void step(dirac::State& s, fl::Index) {
    dirac::mpi_step(process, s, [](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
      lqcd::overlapped<with_centre>(job, faces, order, targets);
    });
  }
};

}  // namespace

FL_VARIANT(dirac, Operator, .traits = {.vector_bytes = fl::simd::bytes})
