// A tile a process; halos three cells wide, and two sub-steps of the surface between messages.
#include "firstlight/grid/mpi.hpp"
#include "run.hpp"

using Tiles = ocean_micom::Run<fl::grid::Mpi>;

FL_VARIANT(ocean_micom, Tiles)
