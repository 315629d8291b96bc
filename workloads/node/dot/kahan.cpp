// Kahan's compensated summation (CACM 8, 1965): the error does not grow with n. A compiler that reassociates deletes the compensation.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(dot::State& s, fl::Index) {
  const double* x = s.x.data();
  const double* y = s.y.data();
  double sum = 0, lost = 0;
  for (fl::Index i = 0; i < s.x.size(); ++i) {
    const double term = x[i] * y[i] - lost;
    const double next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  s.result = sum;
}

}  // namespace

FL_VARIANT(dot, step, .traits = {.compensated = true})
