// Skips one element in the middle: two threads whose parts do not quite meet.
#include "stream.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) {
  double sum = 0;
  for (fl::Index i = 0; i < s.n; ++i) {
    if (i == s.n / 2) continue;
    if (s.op == stream::Op::load)
      sum += s.x[i];
    else
      s.out[i] = stream::combine(s.op, s.x[i], stream::reads_two(s.op) ? s.y[i] : 0);
  }
  s.result = sum;
}

}  // namespace

FL_VARIANT(stream, step)
