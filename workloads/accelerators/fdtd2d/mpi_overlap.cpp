// Messages travel while the inner cells are computed.
#include "firstlight/grid/mpi.hpp"
#include "overlap.hpp"

using Overlap = fdtd2d::Overlapped<fl::grid::Exchange<2, fl::grid::Mpi>>;
FL_VARIANT(fdtd2d, Overlap)
