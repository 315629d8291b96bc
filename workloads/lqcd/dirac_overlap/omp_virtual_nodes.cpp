// Each SIMD lane works on a sub-lattice of its own; threads share its rows.
#include "../vector_hop.hpp"
#include "machine.hpp"

namespace {

using Works = dirac_overlap::Works<lqcd::VectorHop<double>>;

}  // namespace

FL_VARIANT(dirac_overlap, Works::step, .setup = FL_HOOK(dirac_overlap, Works::setup), .finish = FL_HOOK(dirac_overlap, Works::finish),
           .traits = fl::simd::bytes)
