// A tile a process; halos three cells wide, and two sub-steps of the surface between messages.
#include "firstlight/grid/mpi_by.hpp"
#include "kernels/run.hpp"

using Tiles = ocean_micom::Run<fl::grid::MpiBy>;

FL_VARIANT(ocean_micom, Tiles)
