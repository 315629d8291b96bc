// Every value is off by one part in a million: a wrong scalar, or a reduced precision.
#include "stream.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) {
  constexpr double wrong = 1 + 1e-6;
  double sum = 0;
  for (fl::Index i = 0; i < s.n; ++i) {
    if (s.op == stream::Op::load)
      sum += wrong * s.x[i];
    else
      s.out[i] = wrong * stream::combine(s.op, s.x[i], stream::reads_two(s.op) ? s.y[i] : 0);
  }
  s.result = sum;
}

}  // namespace

FL_VARIANT(stream, step)
