// Processes of threads: all of them pack, compute and unpack; messages travel while the inner cells are computed.
#include "firstlight/grid/mpi.hpp"
#include "overlap.hpp"
#include "threads.hpp"

using Hybrid = fdtd2d::Overlapped<fl::grid::Exchange<2, fl::grid::Mpi>, fl::grid::OpenMp>;
FL_VARIANT(fdtd2d, Hybrid, .first_touch = fdtd2d::place)
