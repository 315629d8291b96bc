// Copies the first half.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(device_copy, device_copy::Device<2>, .refuse = device_copy::refuse, .device = &fl::device::cuda)
