// Leaves out the last multiply-add of each lap.
#include "peak.hpp"

#include "firstlight/variant.hpp"

namespace {

template <class T>
void run(peak::Lanes<T>& lanes, double shift) {
  for (fl::Index i = 0; i < peak::chains<T>; ++i) {
    lanes.sum[i] = 0;
    for (fl::Index lap = 0; lap < peak::laps; ++lap) {
      T x = lanes.start[i] + static_cast<T>(shift + peak::ahead(lap));
      for (fl::Index m = 0; m < peak::length - 1; ++m) x = x * lanes.a + lanes.b;
      lanes.sum[i] += x;
    }
  }
}

void step(peak::State& s, fl::Index) {
  if (s.precision == 32)
    run(s.singles, s.shift);
  else
    run(s.doubles, s.shift);
}

}  // namespace

FL_VARIANT(peak, step)
