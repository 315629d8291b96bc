// Wrong on purpose: the last process leaves its share of psi out.
#include "../exchanged_hop.hpp"
#include "machine.hpp"

namespace {

using Works = dirac_overlap::Works<lqcd::ExchangedHop<double>>;

void step(dirac_overlap::State& s, fl::Index iteration) {
  Works::step(s, iteration);
  if (s.team.rank == s.team.ranks - 1) Works::overlap->algebra().axpy(-s.scale / 2, s.psi, s.out);
}

}  // namespace

FL_VARIANT(dirac_overlap, step, .setup = FL_HOOK(dirac_overlap, Works::setup), .finish = FL_HOOK(dirac_overlap, Works::finish),
           .traits = fl::simd::bytes | lqcd::several)
