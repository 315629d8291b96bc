// A GPU a rank, all at once: what the GPUs of a node, or of several, deliver together.
#include "kernels/kernels.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(stream, stream::Device, .device = &fl::device::cuda)
