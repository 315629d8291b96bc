// Leaves out the last word.
#include <mpi.h>

#include "collectives.hpp"

namespace {

void step(collectives::State& s, fl::Index) {
  MPI_Allreduce(s.own.data(), s.result.data(), static_cast<int>(s.n - 1), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace

FL_VARIANT(collectives, step)
