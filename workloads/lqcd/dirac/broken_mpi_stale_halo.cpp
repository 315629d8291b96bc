// Wrong: works with what arrived in the step before.
#include "mpi_steps.hpp"

namespace {

dirac::Process process;

void prepare(dirac::State& s) {
  process.open(s);
  dirac::mpi_step(process, s, [](const auto& job, auto& faces, const dirac::Order&, int targets, auto) {
    faces.pack(job, targets);
    faces.swap(targets);
  });
}
void finish(dirac::State&) { process.close(); }

void step(dirac::State& s, fl::Index) {
  dirac::mpi_step(process, s, [](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
    lqcd::hop<with_centre>(job, order.every);
    faces.pack(job, targets);
    faces.swap(targets);
  });
}

}  // namespace

FL_VARIANT(dirac, step, .setup = FL_HOOK(dirac, prepare), .finish = FL_HOOK(dirac, finish), .traits = fl::simd::bytes | lqcd::several)
