// No rank sleeps, so no rank waits: a share of next to nothing would be shown.
#include "waiting.hpp"

namespace {

void step(waiting::State& s, fl::Index iteration) {
  if (s.team.rank != 0) return waiting::receive(s);
  s.awake = waiting::seconds(CLOCK_MONOTONIC);
  waiting::send_to_all(s, iteration);
}

}  // namespace

FL_VARIANT(waiting, step, .idle = true)
