// One GPU: eight chains a thread.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(peak, peak::Device<peak::laps>, .device = &fl::device::cuda)
