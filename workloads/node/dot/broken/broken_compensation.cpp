// Kahan's sum with the compensation deleted, as a fast-math compiler does it.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(dot::State& s, fl::Index) {
  double sum = 0;
  for (fl::Index i = 0; i < s.x.size(); ++i) sum += s.x[i] * s.y[i];
  s.result = sum;
}

}  // namespace

FL_VARIANT(dot, step, .traits = {.compensated = true})
