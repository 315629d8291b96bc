// Explicit portable SIMD, ordinary stores.
#include "kernels/vectors.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) {
  if (s.op == stream::Op::load)
    s.result = stream::load(s.x.data(), 0, s.n);
  else
    stream::stores<stream::Store::ordinary>(s, 0, s.n);
}

}  // namespace

FL_VARIANT(stream, step)
