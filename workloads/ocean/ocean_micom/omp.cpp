// Threads share the lines of the ocean: loop-level OpenMP, as MICOM had it.
#include "run.hpp"

using Threads = ocean_micom::Run<fl::grid::OneProcess, fl::grid::OpenMp>;

FL_VARIANT(ocean_micom, Threads)
