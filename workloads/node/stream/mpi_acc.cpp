// OpenACC: a device a rank, all at once.
#include "kernels/acc.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(stream, stream::acc::Device, .device = &fl::device::openacc)
