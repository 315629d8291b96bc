// One site after the other in plain numbers: what every other variant is compared with.
#include "kernels/solver.hpp"

namespace {

using Solver = dirac_solver::Solver<lqcd::ScalarHop>;

}  // namespace

FL_VARIANT(dirac_solver, Solver)
