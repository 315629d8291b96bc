// CUDA: the host spins until an event behind the last kernel.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

using Spinning = kernel_launch::Device<0, kernel_launch::WaitForEvent<cudaEventDefault>>;
FL_VARIANT(kernel_launch, Spinning, .device = &fl::device::cuda)
