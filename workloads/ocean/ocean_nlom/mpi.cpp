// A tile a process; halos two cells wide before each stage.
#include "firstlight/grid/mpi.hpp"
#include "semi.hpp"

using Tiles = ocean_nlom::Semi<fl::grid::Mpi>;

FL_VARIANT(ocean_nlom, Tiles)
