// Returns the result of the step before: a result that is late by one.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

double before = 0;

void step(dot::State& s, fl::Index) {
  double sum = 0;
  for (fl::Index i = 0; i < s.x.size(); ++i) sum += s.x[i] * s.y[i];
  s.result = before;
  before = sum;
}

}  // namespace

FL_VARIANT(dot, step)
