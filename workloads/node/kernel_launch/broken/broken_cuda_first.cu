// Leaves out the first kernel of a step.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(kernel_launch, kernel_launch::Device<1>, .device = &fl::device::cuda)
