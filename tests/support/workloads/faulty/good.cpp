// The one that does what it should.
#include "faulty.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(faulty::State& s, fl::Index) { faulty::sum(s); }

}  // namespace

FL_VARIANT(faulty, step)
