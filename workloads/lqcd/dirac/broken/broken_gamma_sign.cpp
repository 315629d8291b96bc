// Wrong on purpose: 1 + g_mu where it should be 1 - g_mu and the other way round.
#include "kernels/scalar_steps.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Wrong : lqcd::Rules {
  static constexpr int forward = 1, backward = -1;
};

void step(dirac::State& s, fl::Index) { dirac::scalar_step<Wrong>(s); }

}  // namespace

FL_VARIANT(dirac, step)
