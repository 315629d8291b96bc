// Forgets the last element: the remainder loop that is often not tested.
#include "kernels/vectors.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) {
  if (s.op == stream::Op::load)
    s.result = stream::load(s.x.data(), 0, s.n - 1);
  else
    stream::stores<stream::Store::ordinary>(s, 0, s.n - 1);
}

}  // namespace

FL_VARIANT(stream, step)
