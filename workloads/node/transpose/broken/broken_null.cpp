// Does nothing: B stays poisoned.
#include "transpose.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State&, fl::Index) {}

}  // namespace

FL_VARIANT(transpose, step)
