// No rank enters the barrier.
#include "waiting.hpp"

namespace {

void step(waiting::State& s, fl::Index) {
  if (s.team.rank == 0) {
    waiting::sleep(s);
  } else {
    waiting::begin(s);
    waiting::end(s);
  }
}

}  // namespace

FL_VARIANT(waiting, step, .traits = {.no_payload = true}, .idle = true)
