// No compiler accepts this.
#include "faulty.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(faulty::State& s, fl::Index) { s.result = a_name_that_nobody_declared; }

}  // namespace

FL_VARIANT(faulty, step)
