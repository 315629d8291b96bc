// Computes once and keeps the answer: what a compiler may do with a loop whose inputs never change.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(dot::State& s, fl::Index iteration) {
  if (iteration > 0 && s.result == s.result) return;
  double sum = 0;
  for (fl::Index i = 0; i < s.x.size(); ++i) sum += s.x[i] * s.y[i];
  s.result = sum;
}

}  // namespace

FL_VARIANT(dot, step)
