// Looks at the clock on one processor.
#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) { noise::look(s, 0); }

}  // namespace

FL_VARIANT(noise, step, .traits = {.looking = true})
