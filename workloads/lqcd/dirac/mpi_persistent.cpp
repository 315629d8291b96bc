// As the overlapping form, with requests that are made once.
#include "kernels/mpi_steps.hpp"

namespace {

struct Operator : dirac::OnProcesses {
  void open(dirac::State& s) { process.open(s, lqcd::Mpi::Requests::persistent); }

  void step(dirac::State& s, fl::Index) {
    dirac::mpi_step(process, s, [](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
      lqcd::overlapped<with_centre>(job, faces, order, targets);
    });
  }
};

}  // namespace

FL_VARIANT(dirac, Operator, .traits = {.vector_bytes = fl::simd::bytes})
