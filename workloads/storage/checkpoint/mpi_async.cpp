// Each rank copies its block; a thread writes the copy while the rank computes.
#include "kernels/mpi.hpp"

FL_VARIANT(checkpoint, checkpoint::OfRanks<checkpoint::InBackground>, .traits = {.asynchronous = true}, .idle = true)
