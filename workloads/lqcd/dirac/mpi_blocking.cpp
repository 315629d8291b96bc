// One exchange after the other, then all sites.
#include "mpi_steps.hpp"

namespace {

dirac::Process process;

void prepare(dirac::State& s) { process.open(s); }
void finish(dirac::State&) { process.close(); }

void step(dirac::State& s, fl::Index) {
  dirac::mpi_step(process, s, [](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
    faces.pack(job, targets);
    faces.swap(targets);
    lqcd::hop<with_centre>(job, order.every);
  });
}

}  // namespace

FL_VARIANT(dirac, step, .setup = FL_HOOK(dirac, prepare), .finish = FL_HOOK(dirac, finish), .traits = fl::simd::bytes)
