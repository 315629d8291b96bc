// The graph lacks its first kernel.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(kernel_launch, kernel_launch::Graph<1>, .device = &fl::device::cuda)
