// Each SIMD lane works on a sub-lattice of its own; threads share its rows.
#include "../vector_hop.hpp"
#include "machine.hpp"

namespace {

using Works = dirac_solver::Works<lqcd::VectorHop>;

}  // namespace

FL_VARIANT(dirac_solver, Works::step, .setup = FL_HOOK(dirac_solver, Works::setup), .finish = FL_HOOK(dirac_solver, Works::finish),
           .traits = fl::simd::bytes)
