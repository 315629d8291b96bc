// No communication: the arithmetic of the blocking form with halos that nobody sends. The other half of R5's efficiency, and nothing else.
#include "mpi_steps.hpp"

namespace {

dirac::Process process;

void prepare(dirac::State& s) { process.open(s); }
void finish(dirac::State&) { process.close(); }

void step(dirac::State& s, fl::Index) {
  dirac::in_precision(s, [&](auto& a) {
    if (!dirac::is_operator(s.op)) return dirac::linear_algebra(s, a);
    dirac::exchanged(process, s, a, [](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
      faces.pack(job, targets);
      lqcd::hop<with_centre>(job, order.every);
    });
  });
}

}  // namespace

FL_VARIANT(dirac, step, .setup = FL_HOOK(dirac, prepare), .finish = FL_HOOK(dirac, finish), .traits = fl::simd::bytes,
           .unverified = "it leaves the exchange out, to show what communication costs the others")
