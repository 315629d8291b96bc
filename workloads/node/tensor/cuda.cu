// One GPU: the instruction mma.sync on tiles in registers.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(tensor, tensor::Device<tensor::laps>, .refuse = tensor::refuse, .device = &fl::device::cuda)
