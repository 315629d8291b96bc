// Stores past the caches: no line is read only to be overwritten (write-allocate).
#include "kernels/vectors.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) {
  stream::stores<stream::Store::nontemporal>(s, 0, s.n);
  fl::nontemporal::fence();
}

}  // namespace

FL_VARIANT(stream, step, .refuse = stream::nontemporal_refuses)
