// Blocks of several processes, a sub-lattice of them for each SIMD lane: sites that need no halo are worked on while messages are under
// way; every scalar product is a sum over all processes.
#include "../exchanged_hop.hpp"
#include "machine.hpp"

namespace {

using Works = dirac_solver::Works<lqcd::ExchangedHop>;

}  // namespace

FL_VARIANT(dirac_solver, Works::step, .setup = FL_HOOK(dirac_solver, Works::setup), .finish = FL_HOOK(dirac_solver, Works::finish),
           .traits = fl::simd::bytes)
