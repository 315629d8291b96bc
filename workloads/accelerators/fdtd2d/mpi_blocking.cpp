// One exchange after the other, and all cells after each.
#include "kernels/exchanged.hpp"
#include "kernels/run.hpp"

using Blocking = fdtd2d::Run<fdtd2d::Exchanged>;
FL_VARIANT(fdtd2d, Blocking)
