// OpenACC: the loops of `serial` with a directive each.
#include "kernels/acc.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(stream, stream::acc::Device, .device = &fl::device::openacc)
