// OpenACC: the loops of a run with a directive each.
#include "kernels/acc.hpp"
#include "firstlight/variant.hpp"

FL_VARIANT(fdtd2d, fdtd2d::ByDirectives<fdtd2d::OpenAcc>, .device = &fl::device::openacc)
