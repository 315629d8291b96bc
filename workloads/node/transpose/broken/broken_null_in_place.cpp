// Does nothing, which is right after every second step.
#include "transpose.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State&, fl::Index) {}

}  // namespace

FL_VARIANT(transpose, step, .traits = {.in_place = true})
