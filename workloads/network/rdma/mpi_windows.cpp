// Puts and gets in memory that a program has anyway: MPI_Win_create, a window for each interface on the same memory.
#include "kernels/ranks.hpp"

using Steps = rdma::Ranks<rdma::Memory::registered>;
FL_VARIANT(rdma, Steps, .traits = {.given_memory = true})
