// Each SIMD lane works on a sub-lattice of its own.
#include "../vector_hop.hpp"
#include "kernels/solver.hpp"

namespace {

using Solver = dirac_solver::Solver<lqcd::VectorHop>;

}  // namespace

FL_VARIANT(dirac_solver, Solver, .traits = {.vector_bytes = fl::simd::bytes})
