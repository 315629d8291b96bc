// Sends the word of the first step again and again.
#include "waiting.hpp"

namespace {

void step(waiting::State& s, fl::Index) {
  if (s.team.rank != 0) return waiting::receive(s);
  waiting::sleep(s);
  waiting::send_to_all(s, -1);
}

}  // namespace

FL_VARIANT(waiting, step, .idle = true)
