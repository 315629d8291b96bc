// Wrong: works with what arrived in the step before.
#include "kernels/mpi_steps.hpp"

namespace {

struct Operator : dirac::OnProcesses {
  void open(dirac::State& s) {
    OnProcesses::open(s);
    dirac::mpi_step(process, s, [](const auto& job, auto& faces, const dirac::Order&, int targets, auto) {
      faces.pack(job, targets);
      faces.swap(targets);
    });
  }

  void step(dirac::State& s, fl::Index) {
    dirac::mpi_step(process, s, [](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
      lqcd::hop<with_centre>(job, order.every);
      faces.pack(job, targets);
      faces.swap(targets);
    });
  }
};

}  // namespace

FL_VARIANT(dirac, Operator, .traits = {.vector_bytes = fl::simd::bytes, .several_processes = true})
