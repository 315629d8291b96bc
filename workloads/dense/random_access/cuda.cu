// One GPU: atomic operations by all threads, on a table in its memory.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

using Updates = random_access::Device<random_access::AtomicOnDevice, 1>;
FL_VARIANT(random_access, Updates, .device = &fl::device::cuda)
