// Does half the laps.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(tensor, tensor::Device<tensor::laps / 2>, .refuse = tensor::refuse, .device = &fl::device::cuda)
