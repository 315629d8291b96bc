// Does nothing: p stays what it was before the first sweep.
#include "himeno.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(himeno::State&, fl::Index) {}

}  // namespace

FL_VARIANT(himeno, step)
