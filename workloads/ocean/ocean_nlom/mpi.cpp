// A tile a process; halos two cells wide before each stage.
#include "firstlight/collectives/alltoall.hpp"
#include "firstlight/grid/mpi_by.hpp"
#include "kernels/semi.hpp"

using Tiles = ocean_nlom::Semi<fl::grid::MpiBy>;

FL_VARIANT(ocean_nlom, Tiles)
