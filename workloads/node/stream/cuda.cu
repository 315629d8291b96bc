// One GPU, a thread an element. What is timed is the kernels, from the start of the first to the end of the last.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(stream, stream::Device, .device = &fl::device::cuda)
