// The functions that a program calls: those of C, and those of Fortran that do not call those of C.
//
// Open MPI's Fortran functions call PMPI functions, so all of them stand here too (mpi_bcast_ and mpi_bcast_f08_). MPICH's call MPI
// functions, except mpi_barrier_f08_.
#include "calls.hpp"

#define FL_VISIBLE extern "C" __attribute__((visibility("default")))

namespace preload = fl::preload;

FL_VISIBLE int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return preload::bcast(buffer, count, type, root, comm);
}
FL_VISIBLE int MPI_Reduce(const void* give, void* get, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  return preload::reduce(give, get, count, type, op, root, comm);
}
FL_VISIBLE int MPI_Allreduce(const void* give, void* get, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return preload::allreduce(give, get, count, type, op, comm);
}
FL_VISIBLE int MPI_Allgather(const void* give, int count, MPI_Datatype type, void* get, int get_count, MPI_Datatype get_type,
                             MPI_Comm comm) {
  return preload::allgather(give, count, type, get, get_count, get_type, comm);
}
FL_VISIBLE int MPI_Reduce_scatter_block(const void* give, void* get, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return preload::reduce_scatter_block(give, get, count, type, op, comm);
}
FL_VISIBLE int MPI_Alltoall(const void* give, int count, MPI_Datatype type, void* get, int get_count, MPI_Datatype get_type,
                            MPI_Comm comm) {
  return preload::alltoall(give, count, type, get, get_count, get_type, comm);
}
FL_VISIBLE int MPI_Barrier(MPI_Comm comm) { return preload::barrier(comm); }

namespace {

// Stores the status for a Fortran caller; `error` may be absent in mpi_f08.
void store_status(MPI_Fint* error, int status) {
  if (error != nullptr) *error = status;
}

}  // namespace

#ifdef OPEN_MPI

// Where Fortran's MPI_IN_PLACE and MPI_BOTTOM lie, in Open MPI's Fortran library; absent from programs in C.
extern "C" {
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));
}

namespace {

void* address(void* given) {
  if (given == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  return given == &mpi_fortran_bottom_ ? MPI_BOTTOM : given;
}

using F = MPI_Fint;

}  // namespace

#define FL_FORTRAN(suffix)                                                                                                                 \
  FL_VISIBLE void mpi_bcast##suffix(void* buffer, F* count, F* type, F* root, F* comm, F* error) {                                         \
    store_status(error, preload::bcast(address(buffer), *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*comm)));                       \
  }                                                                                                                                        \
  FL_VISIBLE void mpi_reduce##suffix(void* give, void* get, F* count, F* type, F* op, F* root, F* comm, F* error) {                        \
    store_status(                                                                                                                          \
        error, preload::reduce(address(give), address(get), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), *root, PMPI_Comm_f2c(*comm))); \
  }                                                                                                                                        \
  FL_VISIBLE void mpi_allreduce##suffix(void* give, void* get, F* count, F* type, F* op, F* comm, F* error) {                              \
    store_status(error,                                                                                                                    \
                 preload::allreduce(address(give), address(get), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));   \
  }                                                                                                                                        \
  FL_VISIBLE void mpi_allgather##suffix(void* give, F* count, F* type, void* get, F* get_count, F* get_type, F* comm, F* error) {          \
    store_status(error, preload::allgather(address(give), *count, PMPI_Type_f2c(*type), address(get), *get_count,                          \
                                           PMPI_Type_f2c(*get_type), PMPI_Comm_f2c(*comm)));                                               \
  }                                                                                                                                        \
  FL_VISIBLE void mpi_reduce_scatter_block##suffix(void* give, void* get, F* count, F* type, F* op, F* comm, F* error) {                   \
    store_status(error, preload::reduce_scatter_block(address(give), address(get), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),         \
                                                      PMPI_Comm_f2c(*comm)));                                                              \
  }                                                                                                                                        \
  FL_VISIBLE void mpi_alltoall##suffix(void* give, F* count, F* type, void* get, F* get_count, F* get_type, F* comm, F* error) {           \
    store_status(error, preload::alltoall(address(give), *count, PMPI_Type_f2c(*type), address(get), *get_count, PMPI_Type_f2c(*get_type), \
                                          PMPI_Comm_f2c(*comm)));                                                                          \
  }                                                                                                                                        \
  FL_VISIBLE void mpi_barrier##suffix(F* comm, F* error) { store_status(error, preload::barrier(PMPI_Comm_f2c(*comm))); }

FL_FORTRAN(_)
FL_FORTRAN(_f08_)

#else

FL_VISIBLE void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) { store_status(error, preload::barrier(PMPI_Comm_f2c(*comm))); }

#endif
