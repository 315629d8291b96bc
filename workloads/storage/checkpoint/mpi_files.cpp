// Each rank saves its block in a file of its own, in one folder.
#include "kernels/mpi.hpp"

FL_VARIANT(checkpoint, checkpoint::OfRanks<>, .idle = true)
