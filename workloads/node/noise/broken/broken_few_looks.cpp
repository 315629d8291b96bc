// Looks at the clock a hundredth as often as it reports.
#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) {
  const fl::Index all = s.looks;
  s.looks /= 100;
  noise::look(s, 0);
  s.looks = s.parties[0].looks = all;
}

}  // namespace

FL_VARIANT(noise, step, .traits = {.looking = true})
