// One thread, as many points at once as fit into a vector.
#include "kernels/vectors.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(himeno::State& s, fl::Index) { himeno::run(s, himeno::Vectors<himeno::Store::ordinary>{}); }

}  // namespace

FL_VARIANT(himeno, step)
