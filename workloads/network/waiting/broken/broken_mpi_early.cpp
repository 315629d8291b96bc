// Rank 0 sends before it sleeps: the words are right, but no rank has to wait.
#include "waiting.hpp"

namespace {

void step(waiting::State& s, fl::Index iteration) {
  if (s.team.rank != 0) return waiting::receive(s);
  waiting::send_to_all(s, iteration);
  waiting::sleep(s);
}

}  // namespace

FL_VARIANT(waiting, step, .idle = true)
