// Writes one word behind the result.
#include <mpi.h>

#include "collectives.hpp"

namespace {

void step(collectives::State& s, fl::Index) {
  MPI_Allreduce(s.own.data(), s.result.data(), static_cast<int>(s.n), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  s.result[s.n] = 0;
}

}  // namespace

FL_VARIANT(collectives, step)
