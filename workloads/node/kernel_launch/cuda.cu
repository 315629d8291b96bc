// CUDA: a kernel of one thread.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(kernel_launch, kernel_launch::Device<0>, .device = &fl::device::cuda)
