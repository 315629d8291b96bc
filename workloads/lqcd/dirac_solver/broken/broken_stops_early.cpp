// Wrong on purpose: satisfied with two digits less.
#include "kernels/solver.hpp"

namespace {

using Solver = dirac_solver::Solver<lqcd::ScalarHop>;

struct Satisfied : Solver {
  using Solver::Solver;

  void step(dirac_solver::State& s, fl::Index) {
    lqcd::Goal goal = dirac_solver::goal(s);
    goal.tolerance *= 100;
    solve(s, goal);
  }
};

}  // namespace

FL_VARIANT(dirac_solver, Satisfied)
