// Every other point of a line is turned as if the line were a point longer.
#include "kernels/box.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Another : fl::OwnFourier {
  explicit Another(fl::Index n) : OwnFourier(n) {}

  void forward(const fl::Complex* from, fl::Complex* to) {
    OwnFourier::forward(from, to);
    const double n = static_cast<double>(out.size());
    for (std::size_t k = 1; k < out.size(); k += 2) to[k] *= std::polar(1.0, 2 * M_PI * (1 / n - 1 / (n + 1)));
  }
};

using Lines = fft3d::Transform<Another, spectral::Alone>;

}  // namespace

FL_VARIANT(fft3d, Lines)
