// A tile a process, whose lines its threads share.
#include "firstlight/collectives/alltoall.hpp"
#include "firstlight/grid/mpi_by.hpp"
#include "kernels/semi.hpp"

using Both = ocean_nlom::Semi<fl::grid::MpiBy, fl::grid::OpenMp>;

FL_VARIANT(ocean_nlom, Both)
