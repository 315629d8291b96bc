// The same in memory that the library allocates, MPI_Win_allocate: a part of it for each interface.
#include "kernels/ranks.hpp"

using Steps = rdma::Ranks<rdma::Memory::allocated>;
FL_VARIANT(rdma, Steps)
