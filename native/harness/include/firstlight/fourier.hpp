// Fourier transforms of lines without a library.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <variant>
#include <vector>

#include "firstlight/fourier_lanes.hpp"
#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

using Complex = std::complex<double>;

// Multiplies without the standard's rules for infinities.
template <class Real>
std::complex<Real> times(const std::complex<Real>& a, const std::complex<Real>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Fourier transforms of lines of any length without a library: in vectors as wide as the length suits, of one number where it suits no other.
class OwnFourier {
 public:
  explicit OwnFourier(Index n) : in(static_cast<std::size_t>(n)), out(in), way_(chosen(n, Widths())) {}
  std::vector<Complex> in, out;

  void forward() { forward(in.data(), out.data()); }
  // Without a factor.
  void backward() { backward(in.data(), out.data()); }
  // From a line that stays as it is to one apart from it.
  void forward(const Complex* from, Complex* to) { go(from, to, false); }
  void backward(const Complex* from, Complex* to) { go(from, to, true); }

 private:
  template <int... lanes>
  struct InLanes {
    using Way = std::variant<FourierInLanes<lanes>...>;
  };
  static constexpr int widest = simd::width<double>;
  using Widths = std::conditional_t<widest >= 8, InLanes<8, 4, 2, 1>, std::conditional_t<widest == 4, InLanes<4, 2, 1>, InLanes<2, 1>>>;
  using Way = Widths::Way;

  template <int... lanes>
  static Way chosen(Index n, InLanes<lanes...>) {
    std::optional<Way> way;
    (void)((FourierInLanes<lanes>::suits(n) && (way.emplace(std::in_place_type<FourierInLanes<lanes>>, n), true)) || ...);
    return std::move(*way);
  }
  void go(const Complex* from, Complex* to, bool back) {
    std::visit([&](auto& way) { way(from, to, back); }, way_);
  }

  Way way_;
};

}  // namespace fl::inline FL_ROLE
