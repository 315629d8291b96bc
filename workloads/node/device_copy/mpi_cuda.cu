// A GPU a rank, all at once: what the links of a node carry together.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(device_copy, device_copy::Device<1>, .device = &fl::device::cuda)
