// Sends the word of the first step again and again.
#include "waiting.hpp"

namespace {

void step(waiting::State& s, fl::Index) {
  if (s.team.rank == 0) {
    waiting::sleep(s);
    waiting::send_to_all(s, -1);
  } else {
    waiting::begin(s);
    MPI_Recv(&s.word, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    waiting::end(s);
  }
}

}  // namespace

FL_VARIANT(waiting, step, .idle = true)
