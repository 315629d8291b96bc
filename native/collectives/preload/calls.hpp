// The seven collectives as libfirstlight_coll.so executes them. Arguments and results are those of MPI's own functions.
//
//   FIRSTLIGHT_COLLECTIVES          the decision table (table.hpp); without it nothing changes
//   FIRSTLIGHT_COLLECTIVES_VERBOSE  1: rank 0 prints at the end what ran how often
//
// Taken over are communicators within one group, and for sums predefined operations on predefined types without gaps; everything else,
// and every erroneous call, goes to the library. What is decided by is the same on all ranks: collective, number of ranks, bytes,
// operation. Data that does not lie together is packed. Threads: as MPI requires, one collective at a time on a communicator; different
// communicators may be used by different threads at once.
#pragma once

#include <mpi.h>

namespace fl::preload {

int bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int reduce(const void* give, void* get, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int allreduce(const void* give, void* get, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int allgather(const void* give, int count, MPI_Datatype type, void* get, int get_count, MPI_Datatype get_type, MPI_Comm comm);
int reduce_scatter_block(const void* give, void* get, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int alltoall(const void* give, int count, MPI_Datatype type, void* get, int get_count, MPI_Datatype get_type, MPI_Comm comm);
int barrier(MPI_Comm comm);

}  // namespace fl::preload
