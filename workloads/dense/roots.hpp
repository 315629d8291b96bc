// exp(-2 pi i m / n) for 0 <= m < n from two tables of about sqrt(n) entries: one product a root.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <vector>

#include "firstlight/fourier.hpp"

namespace spectral {

template <class Real>
class Roots {
 public:
  using Number = std::complex<Real>;

  Roots() = default;
  explicit Roots(fl::Index n) : bits_((std::bit_width(static_cast<std::uint64_t>(n)) + 1) / 2), mask_((fl::Index{1} << bits_) - 1) {
    const auto fill = [&](std::vector<Number>& table, fl::Index count, fl::Index stride) {
      for (fl::Index k = 0; k < count; ++k) {
        const long double angle = -2 * M_PIl * (static_cast<long double>(k * stride) / static_cast<long double>(n));
        table.emplace_back(static_cast<Real>(std::cos(angle)), static_cast<Real>(std::sin(angle)));
      }
    };
    fill(fine_, mask_ + 1, 1);
    fill(coarse_, (n >> bits_) + 1, mask_ + 1);
  }
  Number operator[](fl::Index m) const {
    return fl::times(coarse_[static_cast<std::size_t>(m >> bits_)], fine_[static_cast<std::size_t>(m & mask_)]);
  }

 private:
  int bits_ = 0;
  fl::Index mask_ = 0;
  std::vector<Number> fine_, coarse_;
};

}  // namespace spectral
