// One thread; in time steps with implicit waves the transforms are a library's.
#include "firstlight/library_fourier.hpp"
#include "kernels/semi.hpp"

using Library = ocean_nlom::Semi<fl::grid::OneProcess, fl::grid::Alone, ocean_nlom::Right, fl::LibraryFourier<>>;

FL_VARIANT(ocean_nlom, Library)
