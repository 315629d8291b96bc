// The ranks wait in MPI_Recv for a word of rank 0.
#include "waiting.hpp"

namespace {

void step(waiting::State& s, fl::Index iteration) {
  if (s.team.rank != 0) return waiting::receive(s);
  waiting::sleep(s);
  waiting::send_to_all(s, iteration);
}

}  // namespace

FL_VARIANT(waiting, step, .idle = true)
