// A GPU a rank, all at once: the joint bandwidth of a node's links.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(device_copy, device_copy::Device<1>, .refuse = device_copy::refuse, .device = &fl::device::cuda)
