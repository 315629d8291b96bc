// OpenMP on a device: the loops of `serial` with a directive each.
#include "kernels/target.hpp"

#include "firstlight/variant.hpp"

FL_VARIANT(stream, stream::target::Device, .device = &fl::device::openmp)
