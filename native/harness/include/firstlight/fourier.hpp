// Fourier transforms of lines without a library: what a line is, a way in vectors, and a plain one for all other lengths.
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

// Without what the standard asks for infinities.
template <class Real>
std::complex<Real> times(const std::complex<Real>& a, const std::complex<Real>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// The plain way: a line is cut by the smallest prime of its length, again and again.
class PlainFourier {
 public:
  explicit PlainFourier(Index n) : n_(n), roots_(static_cast<std::size_t>(n)), part_(roots_) {
    for (Index k = 0; k < n; ++k)
      roots_[static_cast<std::size_t>(k)] = std::polar(1.0, -2 * M_PI * static_cast<double>(k) / static_cast<double>(n));
  }
  void operator()(const Complex* from, Complex* to, bool back) {
    cut(n_, 1, from, to);
    if (back) std::reverse(to + 1, to + n_);  // the other sign: point -k in the place of k
  }

 private:
  static Index smallest_prime(Index n) {
    for (Index p = 2; p * p <= n; ++p)
      if (n % p == 0) return p;
    return n;
  }
  const Complex& root(Index k) const { return roots_[static_cast<std::size_t>(k)]; }
  void cut(Index n, Index stride, const Complex* from, Complex* to) {
    if (n == 1) {
      to[0] = from[0];
      return;
    }
    const Index p = smallest_prime(n), m = n / p;
    for (Index r = 0; r < p; ++r) cut(m, stride * p, from + r * stride, to + r * m);
    for (Index k = 0; k < m; ++k)
      if (p == 2)
        join_two(to[k], to[m + k], root(k * stride));
      else
        join(p, m, k, stride, to);
  }
  static void join_two(Complex& even, Complex& odd, const Complex& root) {
    const Complex turned = times(odd, root);
    odd = even - turned;
    even += turned;
  }
  void join(Index p, Index m, Index k, Index stride, Complex* to) {
    for (Index r = 0; r < p; ++r) part_[static_cast<std::size_t>(r)] = times(to[r * m + k], root(k * r * stride));
    for (Index q = 0; q < p; ++q) {
      Complex sum = part_[0];
      for (Index r = 1; r < p; ++r) sum += times(part_[static_cast<std::size_t>(r)], root(q * r % p * m * stride));
      to[q * m + k] = sum;
    }
  }

  Index n_;
  std::vector<Complex> roots_, part_;
};

// Fourier transforms of lines of any length without a library: in vectors as wide as the length suits, else the plain way.
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
    using Way = std::variant<PlainFourier, FourierInLanes<lanes>...>;
  };
  static constexpr int widest = simd::width<double>;
  using Widths = std::conditional_t<widest >= 8, InLanes<8, 4, 2>, std::conditional_t<widest == 4, InLanes<4, 2>, InLanes<2>>>;
  using Way = Widths::Way;

  template <int... lanes>
  static Way chosen(Index n, InLanes<lanes...>) {
    std::optional<Way> way;
    (void)((FourierInLanes<lanes>::suits(n) && (way.emplace(std::in_place_type<FourierInLanes<lanes>>, n), true)) || ...);
    return way ? std::move(*way) : Way(std::in_place_type<PlainFourier>, n);
  }
  void go(const Complex* from, Complex* to, bool back) {
    std::visit([&](auto& way) { way(from, to, back); }, way_);
  }

  Way way_;
};

}  // namespace fl::inline FL_ROLE
