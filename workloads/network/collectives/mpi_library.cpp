// What the library makes of it: its own collective calls. MPI prescribes no route.
#include <mpi.h>

#include "collectives.hpp"

namespace {

using collectives::Kind;

void step(collectives::State& s, fl::Index) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const int n = static_cast<int>(s.n);
  double* const own = s.own.data();
  double* const result = s.result.data();
  switch (s.kind) {
    case Kind::broadcast:
      MPI_Bcast(result, n, MPI_DOUBLE, s.root, all);
      break;
    case Kind::reduce:
      MPI_Reduce(own, result, n, MPI_DOUBLE, MPI_SUM, s.root, all);
      break;
    case Kind::allreduce:
      MPI_Allreduce(own, result, n, MPI_DOUBLE, MPI_SUM, all);
      break;
    case Kind::allgather:
      MPI_Allgather(own, n, MPI_DOUBLE, result, n, MPI_DOUBLE, all);
      break;
    case Kind::reduce_scatter:
      MPI_Reduce_scatter_block(own, result + s.team.rank * s.n, n, MPI_DOUBLE, MPI_SUM, all);
      break;
    case Kind::alltoall:
      MPI_Alltoall(own, n, MPI_DOUBLE, result, n, MPI_DOUBLE, all);
      break;
    case Kind::barrier:
      MPI_Barrier(all);
      break;
  }
}

}  // namespace

FL_VARIANT(collectives, step)
