// Explicit portable SIMD, ordinary stores.
#include "kernels/vectors.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) { stream::compute(s); }

}  // namespace

FL_VARIANT(stream, step)
