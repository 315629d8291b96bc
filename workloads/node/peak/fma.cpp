// One core.
#include "kernels/chains.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(peak::State& s, fl::Index) { peak::run(s, 0); }

}  // namespace

FL_VARIANT(peak, step)
