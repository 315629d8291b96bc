// Wrong on purpose: the last process leaves its share of psi out.
#include "../exchanged_hop.hpp"
#include "kernels/application.hpp"

namespace {

using Application = dirac_overlap::Application<lqcd::ExchangedHop<double>>;

struct Incomplete : Application {
  using Application::Application;

  void step(dirac_overlap::State& s, fl::Index iteration) {
    Application::step(s, iteration);
    if (s.team.rank == s.team.ranks - 1) overlap.algebra().axpy(-s.scale / 2, s.psi, s.out);
  }
};

}  // namespace

FL_VARIANT(dirac_overlap, Incomplete, .traits = {.vector_bytes = fl::simd::bytes, .several_processes = true})
