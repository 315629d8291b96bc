// A tile a process; halos two cells wide before each stage.
#include "firstlight/grid/mpi.hpp"
#include "run.hpp"

using Tiles = ocean_nlom::Run<fl::grid::Mpi>;

FL_VARIANT(ocean_nlom, Tiles)
