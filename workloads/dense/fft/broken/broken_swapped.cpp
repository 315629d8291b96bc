// Two points are exchanged.
#include "kernels/whole.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Swapped : fft::Whole<fl::OwnFourier> {
  void step(fft::State& s, fl::Index iteration) {
    Whole::step(s, iteration);
    std::swap(s.out[s.p.n / 3], s.out[s.p.n / 5]);
  }
};

}  // namespace

FL_VARIANT(fft, Swapped)
