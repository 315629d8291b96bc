// A tile a process; in time steps with implicit waves the transforms of whole lines are a library's.
#include "firstlight/collectives/alltoall.hpp"
#include "firstlight/grid/mpi_by.hpp"
#include "firstlight/library_fourier.hpp"
#include "kernels/semi.hpp"

using Tiles = ocean_nlom::Semi<fl::grid::MpiBy, fl::grid::Alone, ocean_nlom::Right, fl::LibraryFourier<>>;

FL_VARIANT(ocean_nlom, Tiles)
