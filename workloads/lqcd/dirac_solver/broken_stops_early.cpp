// Wrong on purpose: satisfied with two digits less.
#include "machine.hpp"

namespace {

using Works = dirac_solver::Works<lqcd::ScalarHop>;

void step(dirac_solver::State& s, fl::Index) {
  lqcd::Goal goal = dirac_solver::goal(s);
  goal.tolerance *= 100;
  Works::machine->solve(s, goal);
}

}  // namespace

FL_VARIANT(dirac_solver, step, .setup = FL_HOOK(dirac_solver, Works::setup), .finish = FL_HOOK(dirac_solver, Works::finish))
