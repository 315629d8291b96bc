// Does nothing at all.
#include <mpi.h>

#include "collectives.hpp"

namespace {

std::string alone(const collectives::Params&) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks > 1 ? "" : "this variant needs 2 ranks at least; start it with mpiexec -n 2";
}

void step(collectives::State&, fl::Index) {}

}  // namespace

FL_VARIANT(collectives, step, .refuse = FL_REFUSE(collectives, alone))
