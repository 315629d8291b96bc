// Reports the declared values.
#include "watched.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(watched::State& s, fl::Index) { watched::sum(s); }

}  // namespace

FL_VARIANT(watched, step)
