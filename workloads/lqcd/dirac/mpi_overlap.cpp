// Sites that need no halo are worked on while the messages are under way.
#include "mpi_steps.hpp"

namespace {

dirac::Process process;

void prepare(dirac::State& s) { process.open(s); }
void finish(dirac::State&) { process.close(); }

void step(dirac::State& s, fl::Index) {
  dirac::mpi_step(process, s, [](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
    lqcd::overlapped<with_centre>(job, faces, order, targets);
  });
}

}  // namespace

FL_VARIANT(dirac, step, .setup = FL_HOOK(dirac, prepare), .finish = FL_HOOK(dirac, finish), .traits = fl::simd::bytes)
