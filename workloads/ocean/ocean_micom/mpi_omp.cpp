// A tile a process, whose lines its threads share.
#include "firstlight/grid/mpi_by.hpp"
#include "kernels/run.hpp"

using Both = ocean_micom::Run<fl::grid::MpiBy, fl::grid::OpenMp>;

FL_VARIANT(ocean_micom, Both)
