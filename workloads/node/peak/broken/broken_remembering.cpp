// Runs one lap, and remembers where it arrived for all the others.
#include "peak.hpp"

#include "firstlight/variant.hpp"

namespace {

template <class T>
void run(peak::Lanes<T>& lanes, T shift) {
  for (fl::Index i = 0; i < peak::chains<T>; ++i) {
    T x = lanes.start[i] + shift;
    for (fl::Index m = 0; m < peak::length; ++m) x = x * lanes.a + lanes.b;
    lanes.sum[i] = static_cast<T>(peak::laps) * x;
  }
}

void step(peak::State& s, fl::Index) {
  if (s.precision == 32)
    run(s.singles, static_cast<float>(s.shift));
  else
    run(s.doubles, s.shift);
}

}  // namespace

FL_VARIANT(peak, step)
