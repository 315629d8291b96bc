// Reads each element from one place too far to the left.
#include "stream.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) {
  double sum = 0;
  for (fl::Index i = 0; i < s.n; ++i) {
    const fl::Index from = i > 0 ? i - 1 : 0;
    if (s.op == stream::Op::load)
      sum += s.x[from];
    else
      s.out[i] = stream::combine(s.op, s.x[from], stream::reads_two(s.op) ? s.y[from] : 0);
  }
  s.result = sum;
}

}  // namespace

FL_VARIANT(stream, step)
