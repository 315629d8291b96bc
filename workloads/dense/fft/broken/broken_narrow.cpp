// Real parts are rounded to 32 bits.
#include "kernels/whole.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Narrow : fft::Whole<fl::OwnFourier> {
  void step(fft::State& s, fl::Index iteration) {
    Whole::step(s, iteration);
    for (fl::Complex& x : s.out) x = {static_cast<float>(x.real()), x.imag()};  // of both parts gcc 12 drops it
  }
};

}  // namespace

FL_VARIANT(fft, Narrow)
