// Quanta of work, one after the other, on one processor.
#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) { noise::do_quanta(s, 0); }

}  // namespace

FL_VARIANT(noise, step)
