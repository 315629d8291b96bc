// Rank 0 sends before it sleeps: the words are right, but no rank has to wait.
#include "waiting.hpp"

namespace {

void step(waiting::State& s, fl::Index iteration) {
  if (s.team.rank == 0) {
    waiting::send_to_all(s, iteration);
    waiting::sleep(s);
  } else {
    waiting::begin(s);
    MPI_Recv(&s.word, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    waiting::end(s);
  }
}

}  // namespace

FL_VARIANT(waiting, step, .idle = true)
