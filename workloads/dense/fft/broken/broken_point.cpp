// One point in the middle is left out.
#include "kernels/whole.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Hole : fft::Whole<fl::OwnFourier> {
  void step(fft::State& s, fl::Index iteration) {
    Whole::step(s, iteration);
    s.out[s.p.n / 3] = 0;
  }
};

}  // namespace

FL_VARIANT(fft, Hole)
