// Each SIMD lane works on a sub-lattice of its own.
#include "../vector_hop.hpp"
#include "kernels/application.hpp"

namespace {

using Application = dirac_overlap::Application<lqcd::VectorHop<double>>;

}  // namespace

FL_VARIANT(dirac_overlap, Application, .traits = {.vector_bytes = fl::simd::bytes})
