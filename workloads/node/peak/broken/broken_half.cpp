// Does half the laps.
#include "kernels/chains.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(peak::State& s, fl::Index) {
  if (s.precision == 32)
    peak::run(s.singles, s.shift, 0, peak::laps / 2);
  else
    peak::run(s.doubles, s.shift, 0, peak::laps / 2);
}

}  // namespace

FL_VARIANT(peak, step)
