// One exchange after the other, then all sites.
#include "kernels/mpi_steps.hpp"

namespace {

struct Operator : dirac::OnProcesses {
  void step(dirac::State& s, fl::Index) {
    dirac::mpi_step(process, s, [](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
      faces.pack(job, targets);
      faces.swap(targets);
      lqcd::hop<with_centre>(job, order.every);
    });
  }
};

}  // namespace

FL_VARIANT(dirac, Operator, .traits = {.vector_bytes = fl::simd::bytes})
