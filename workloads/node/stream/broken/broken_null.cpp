// Does nothing: the outputs stay poisoned.
#include "stream.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State&, fl::Index) {}

}  // namespace

FL_VARIANT(stream, step)
