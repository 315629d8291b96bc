// One row after the other, E and then H: what every other variant is compared with.
#include "kernels/run.hpp"

using Serial = fdtd2d::Run<>;
FL_VARIANT(fdtd2d, Serial)
