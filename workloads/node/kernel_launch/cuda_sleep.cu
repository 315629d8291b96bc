// CUDA: the host sleeps until an event behind the last kernel.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

using Sleeping = kernel_launch::Device<0, kernel_launch::WaitForEvent<cudaEventBlockingSync>>;
FL_VARIANT(kernel_launch, Sleeping, .device = &fl::device::cuda)
