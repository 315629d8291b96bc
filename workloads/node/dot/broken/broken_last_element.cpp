// Forgets the last element: the remainder loop that is often not tested.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(dot::State& s, fl::Index) {
  double sum = 0;
  for (fl::Index i = 0; i + 1 < s.x.size(); ++i) sum += s.x[i] * s.y[i];
  s.result = sum;
}

}  // namespace

FL_VARIANT(dot, step)
