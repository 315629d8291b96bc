// Processes of threads: all of them pack, compute and unpack; messages travel while the inner cells are computed.
#include "kernels/overlap.hpp"
#include "kernels/threads.hpp"

using Hybrid = fdtd2d::Overlapped<fl::grid::OpenMp>;
FL_VARIANT(fdtd2d, Hybrid, .first_touch = fdtd2d::place)
