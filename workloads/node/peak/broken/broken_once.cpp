// Repeats the first iteration for ever: what a compiler may do with inputs that it believes constant.
#include "kernels/chains.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(peak::State& s, fl::Index) {
  const double kept = s.shift;
  s.shift = peak::shift_value(0);
  peak::run(s, 0);
  s.shift = kept;
}

}  // namespace

FL_VARIANT(peak, step)
