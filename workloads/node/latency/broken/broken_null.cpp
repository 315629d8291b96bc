// Does nothing: the output stays poisoned.
#include "latency.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(latency::State&, fl::Index) {}

}  // namespace

FL_VARIANT(latency, step)
