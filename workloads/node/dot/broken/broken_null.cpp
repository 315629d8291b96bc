// Does nothing: the output stays poisoned.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(dot::State&, fl::Index) {}

}  // namespace

FL_VARIANT(dot, step)
