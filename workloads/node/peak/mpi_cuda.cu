// A GPU a rank, all at once.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(peak, peak::Device<peak::laps>, .device = &fl::device::cuda)
