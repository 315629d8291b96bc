// Threads share the lines of the ocean: loop-level OpenMP, as MICOM had it.
#include "semi.hpp"

using Threads = ocean_nlom::Semi<fl::grid::OneProcess, fl::grid::OpenMp>;

FL_VARIANT(ocean_nlom, Threads)
