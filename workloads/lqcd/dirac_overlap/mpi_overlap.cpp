// Blocks of several processes, a sub-lattice of them for each SIMD lane: sites that need no halo are worked on while messages are under
// way; every scalar product is a sum over all processes.
#include "../exchanged_hop.hpp"
#include "machine.hpp"

namespace {

using Works = dirac_overlap::Works<lqcd::ExchangedHop<double>>;

}  // namespace

FL_VARIANT(dirac_overlap, Works::step, .setup = FL_HOOK(dirac_overlap, Works::setup), .finish = FL_HOOK(dirac_overlap, Works::finish),
           .traits = fl::simd::bytes)
