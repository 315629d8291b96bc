// Chases pointers through a buffer on huge pages, if the system offers them.
#include "kernels/follow.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(latency::State& s, fl::Index) { latency::follow(s); }

}  // namespace

FL_VARIANT(latency, step)
