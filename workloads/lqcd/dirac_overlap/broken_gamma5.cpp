// Wrong on purpose: 1/2 (1 + sign(H)), without g5.
#include "../even_odd.hpp"
#include "machine.hpp"

namespace {

using Works = dirac_overlap::Works<lqcd::ScalarHop<double>>;

void step(dirac_overlap::State& s, fl::Index iteration) {
  Works::step(s, iteration);
  auto& algebra = Works::overlap->algebra();
  algebra.axpy(-s.scale / 2, s.psi, s.out);
  algebra.turn(s.out);
  algebra.axpy(s.scale / 2, s.psi, s.out);
}

}  // namespace

FL_VARIANT(dirac_overlap, step, .setup = FL_HOOK(dirac_overlap, Works::setup), .finish = FL_HOOK(dirac_overlap, Works::finish))
