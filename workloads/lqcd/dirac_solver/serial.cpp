// One site after the other in plain numbers: what every other variant is compared with.
#include "machine.hpp"

namespace {

using Works = dirac_solver::Works<lqcd::ScalarHop>;

}  // namespace

FL_VARIANT(dirac_solver, Works::step, .setup = FL_HOOK(dirac_solver, Works::setup), .finish = FL_HOOK(dirac_solver, Works::finish))
