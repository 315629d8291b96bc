// Ranks that do what they should.
#include <mpi.h>

#include "faulty.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(faulty::State& s, fl::Index) {
  faulty::sum(s);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

FL_VARIANT(faulty, step)
