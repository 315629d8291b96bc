// The chase through a buffer on huge pages, where the system offers them.
#include "follow.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(latency::State& s, fl::Index) { latency::follow(s); }

}  // namespace

FL_VARIANT(latency, step)
