// All ranks write one file by a collective operation of MPI-IO.
#include "kernels/mpi.hpp"

FL_VARIANT(checkpoint, checkpoint::OfOneFile<>, .traits = {.one_file = true}, .idle = true)
