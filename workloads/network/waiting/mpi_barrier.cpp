// The ranks wait in MPI_Barrier, into which rank 0 comes last.
#include "waiting.hpp"

namespace {

void step(waiting::State& s, fl::Index) {
  if (s.team.rank == 0) {
    waiting::sleep(s);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    waiting::begin(s);
    MPI_Barrier(MPI_COMM_WORLD);
    waiting::end(s);
  }
}

}  // namespace

FL_VARIANT(waiting, step, .traits = {.no_payload = true}, .idle = true)
