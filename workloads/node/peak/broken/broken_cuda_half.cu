// Does half the laps.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(peak, peak::Device<peak::laps / 2>, .device = &fl::device::cuda)
