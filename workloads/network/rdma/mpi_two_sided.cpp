// MPI_Isend, MPI_Irecv, MPI_Waitall.
#include "two_sided.hpp"

FL_VARIANT(rdma, rdma::TwoSided, .refuse = rdma::puts_only)
