// Never looks.
#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State&, fl::Index) {}

}  // namespace

FL_VARIANT(noise, step, .traits = {.looking = true})
