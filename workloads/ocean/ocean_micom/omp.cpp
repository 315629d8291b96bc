// Each thread takes a band of lines from one barrier to the next: tile-level OpenMP. MICOM shared the lines of each loop.
#include "kernels/run.hpp"

using Threads = ocean_micom::Run<fl::grid::OneProcess, fl::grid::OpenMp>;

FL_VARIANT(ocean_micom, Threads)
