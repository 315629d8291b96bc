// One rank aborts while the other waits for it.
#include <mpi.h>

#include <cstdlib>

#include "faulty.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(faulty::State& s, fl::Index iteration) {
  faulty::sum(s);
  if (iteration == 2 && s.team.rank == 1) std::abort();
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

FL_VARIANT(faulty, step)
