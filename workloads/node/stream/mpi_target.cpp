// OpenMP on a device: a device a rank, all at once.
#include "kernels/target.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(stream, stream::target::Device, .device = &fl::device::openmp)
