// Does nothing at all.
#include "collectives.hpp"

namespace {

void step(collectives::State&, fl::Index) {}

}  // namespace

FL_VARIANT(collectives, step, .traits = {.needs_partner = true})
