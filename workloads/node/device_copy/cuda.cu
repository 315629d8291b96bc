// One copy at a time between the host and one GPU; a step ends when its last word has arrived.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(device_copy, device_copy::Device<1>, .refuse = device_copy::refuse, .device = &fl::device::cuda)
