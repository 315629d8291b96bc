// OpenMP on a device: the loops of a run with a directive each.
#include "kernels/target.hpp"
#include "firstlight/variant.hpp"

FL_VARIANT(fdtd2d, fdtd2d::ByDirectives<fdtd2d::OpenMpTarget>, .device = &fl::device::openmp)
