// One site after the other in plain numbers: what every other variant is compared with.
#include "kernels/scalar_steps.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(dirac::State& s, fl::Index) { dirac::scalar_step<lqcd::Rules>(s); }

}  // namespace

FL_VARIANT(dirac, step)
