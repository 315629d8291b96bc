// Tile-level OpenMP: a thread advances lines of its own from halo to halo; what follows from the flow it keeps for itself.
#include "kernels/semi.hpp"

using Tiles = ocean_nlom::Semi<fl::grid::OneProcess, fl::grid::OpenMp>;

FL_VARIANT(ocean_nlom, Tiles)
