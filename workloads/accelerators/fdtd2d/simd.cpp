// E and H of a time step in one sweep, by SIMD.
#include "fused.hpp"

#include "firstlight/grid/one_process.hpp"
#include "firstlight/variant.hpp"

using Fused = fdtd2d::FusedRun<fl::grid::Exchange<2, fl::grid::OneProcess>>;
FL_VARIANT(fdtd2d, Fused, .traits = {.words = 8})
