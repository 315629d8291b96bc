// The ranks wait in MPI_Wait for a word of rank 0 that they requested before.
#include "waiting.hpp"

namespace {

void step(waiting::State& s, fl::Index iteration) {
  if (s.team.rank == 0) {
    waiting::sleep(s);
    waiting::send_to_all(s, iteration);
  } else {
    MPI_Request request;
    MPI_Irecv(&s.word, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, &request);
    waiting::begin(s);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    waiting::end(s);
  }
}

}  // namespace

FL_VARIANT(waiting, step, .idle = true)
