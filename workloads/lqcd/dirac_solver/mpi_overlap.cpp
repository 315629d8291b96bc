// Blocks of several processes, a sub-lattice of them for each SIMD lane: sites that need no halo are worked on while messages are under
// way; every scalar product is a sum over all processes.
#include "../exchanged_hop.hpp"
#include "kernels/solver.hpp"

namespace {

using Solver = dirac_solver::Solver<lqcd::ExchangedHop>;

}  // namespace

FL_VARIANT(dirac_solver, Solver, .traits = {.vector_bytes = fl::simd::bytes})
