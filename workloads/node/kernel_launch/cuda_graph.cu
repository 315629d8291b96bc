// CUDA: all kernels of a step are one graph, which is launched as a whole.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(kernel_launch, kernel_launch::Graph<0>, .device = &fl::device::cuda)
