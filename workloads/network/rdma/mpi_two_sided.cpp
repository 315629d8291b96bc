// MPI_Isend, MPI_Irecv, MPI_Waitall.
#include "kernels/two_sided.hpp"

FL_VARIANT(rdma, rdma::TwoSided, .refuse = rdma::puts_only)
