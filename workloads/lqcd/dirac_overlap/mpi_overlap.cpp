// Blocks of several processes, a sub-lattice of them for each SIMD lane: sites that need no halo are worked on while messages are under
// way; every scalar product is a sum over all processes.
#include "../exchanged_hop.hpp"
#include "kernels/application.hpp"

namespace {

using Application = dirac_overlap::Application<lqcd::ExchangedHop<double>>;

}  // namespace

FL_VARIANT(dirac_overlap, Application, .traits = {.vector_bytes = fl::simd::bytes})
