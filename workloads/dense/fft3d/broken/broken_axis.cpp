// The result has y before z.
#include "kernels/box.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Axis : fft3d::Transform<fl::OwnFourier, spectral::Alone> {
  void step(fft3d::State& s, fl::Index iteration) {
    Transform::step(s, iteration);
    const std::vector<fl::Complex> sound(s.out.begin(), s.out.end());
    const auto [nx, ny, nz] = s.n;
    for (fl::Index k = 0; k < s.out.size(); ++k) {
      const fl::Index x = k % nx, y = k / nx % ny, z = k / nx / ny;
      s.out[(y * nz + z) * nx + x] = sound[static_cast<std::size_t>(k)];
    }
  }
};

}  // namespace

FL_VARIANT(fft3d, Axis)
