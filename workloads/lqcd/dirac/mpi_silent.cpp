// No communication: the arithmetic of the blocking form with halos that no process sends. The other half of R5's efficiency, and nothing
// else.
#include "kernels/mpi_steps.hpp"

namespace {

struct Operator : dirac::OnProcesses {
  void step(dirac::State& s, fl::Index) {
    dirac::in_precision(s, [&](auto& a) {
      if (!dirac::is_operator(s.op)) return dirac::linear_algebra(s, a);
      dirac::exchanged(process, s, a, [](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
        faces.pack(job, targets);
        lqcd::hop<with_centre>(job, order.every);
      });
    });
  }
};

}  // namespace

FL_VARIANT(dirac, Operator, .traits = {.vector_bytes = fl::simd::bytes},
           .unverified = "it omits the exchange, to show how much time communication adds")
