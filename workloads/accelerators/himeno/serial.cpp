// One thread, a point after the other.
#include "kernels/run.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(himeno::State& s, fl::Index) { himeno::run(s, himeno::Plain{}); }

}  // namespace

FL_VARIANT(himeno, step)
