// Wrong on purpose: one pole of the approximation has no weight.
#include "../even_odd.hpp"
#include "machine.hpp"

namespace {

using Works = dirac_overlap::Works<lqcd::ScalarHop<double>>;

void setup(dirac_overlap::State& s) {
  Works::setup(s);
  Works::overlap->approximation().weight[static_cast<std::size_t>(s.poles) - 1] = 0;
}

}  // namespace

FL_VARIANT(dirac_overlap, Works::step, .setup = FL_HOOK(dirac_overlap, setup), .finish = FL_HOOK(dirac_overlap, Works::finish))
