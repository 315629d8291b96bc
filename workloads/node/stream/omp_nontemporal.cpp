// OpenMP with stores past the caches.
#include "kernels/threads.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) {
  stream::each_part(s, [&](fl::Index first, fl::Index last) {
    stream::stores<stream::Store::nontemporal>(s, first, last);
    fl::nontemporal::fence();
  });
}

}  // namespace

FL_VARIANT(stream, step, .refuse = stream::nontemporal_refuses, .first_touch = stream::place)
