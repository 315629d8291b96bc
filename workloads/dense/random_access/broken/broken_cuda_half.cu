// Makes the first half of the updates.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

using Half = random_access::Device<random_access::AtomicOnDevice, 2>;
FL_VARIANT(random_access, Half, .device = &fl::device::cuda)
