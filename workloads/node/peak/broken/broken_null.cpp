// Does nothing: the output stays poisoned.
#include "peak.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(peak::State&, fl::Index) {}

}  // namespace

FL_VARIANT(peak, step)
