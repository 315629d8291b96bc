// One exchange after the other, and all cells after each.
#include "firstlight/grid/mpi.hpp"
#include "run.hpp"

using Blocking = fdtd2d::Run<fl::grid::Exchange<2, fl::grid::Mpi>>;
FL_VARIANT(fdtd2d, Blocking)
