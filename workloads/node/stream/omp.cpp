// OpenMP: explicit SIMD in each thread, ordinary stores.
#include "kernels/threads.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) {
  if (s.op == stream::Op::load)
    s.result = stream::load_in_parts(s);
  else
    stream::each_part(s, [&](fl::Index first, fl::Index last) { stream::stores<stream::Store::ordinary>(s, first, last); });
}

}  // namespace

FL_VARIANT(stream, step, .first_touch = stream::place)
