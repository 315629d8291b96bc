// Wrong on purpose: the backward neighbour is multiplied by U instead of U^+.
#include "kernels/scalar_steps.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Wrong : lqcd::Rules {
  static constexpr bool adjoint = false;
};

void step(dirac::State& s, fl::Index) { dirac::scalar_step<Wrong>(s); }

}  // namespace

FL_VARIANT(dirac, step)
