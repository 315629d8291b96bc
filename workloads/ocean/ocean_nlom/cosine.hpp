// Cosine transforms of lines, x_n = (X_0 + 2 sum_{m > 0} X_m cos(pi m (n + 1/2) / N)) / N, by a Fourier transform of the same length
// (J. Makhoul, IEEE Trans. ASSP 28 (1980) 27). They are linear, so the parts of a complex line are two real ones.
#pragma once

#include "firstlight/fourier.hpp"
#include "ocean_nlom.hpp"

namespace ocean_nlom::inline FL_ROLE {

using fl::Complex, fl::times;

template <class Fourier>
class Cosine {
 public:
  explicit Cosine(Index n) : n_(n), fourier_(n), turns_(static_cast<std::size_t>(n)) {
    for (Index m = 0; m < n; ++m)
      turns_[static_cast<std::size_t>(m)] = std::polar(1.0, -M_PI * static_cast<double>(m) / (2 * static_cast<double>(n)));
  }
  // Of two lines, in place; `second` may be missing.
  void forward(double* first, double* second) {
    for (Index i = 0; i < n_; ++i) fourier_.in[static_cast<std::size_t>(place(i))] = {first[i], second == nullptr ? 0 : second[i]};
    fourier_.forward();
    for (Index m = 0; m < n_; ++m) {
      const Complex turn = turns_[static_cast<std::size_t>(m)];
      const Complex x = 0.5 * (times(turn, fourier_.out[static_cast<std::size_t>(m)]) +
                               times(std::conj(turn), fourier_.out[static_cast<std::size_t>(m == 0 ? 0 : n_ - m)]));
      set(first, second, m, x);
    }
  }
  void backward(double* first, double* second) {
    const auto get = [&](Index m) -> Complex { return m == n_ ? 0 : Complex{first[m], second == nullptr ? 0 : second[m]}; };
    for (Index m = 0; m < n_; ++m) {
      const Complex x = get(m), y = get(n_ - m);
      fourier_.in[static_cast<std::size_t>(m)] =
          times(std::conj(turns_[static_cast<std::size_t>(m)]), {x.real() + y.imag(), x.imag() - y.real()});
    }
    fourier_.backward();
    const double factor = 1 / static_cast<double>(n_);
    for (Index i = 0; i < n_; ++i) set(first, second, i, factor * fourier_.out[static_cast<std::size_t>(place(i))]);
  }

 private:
  // Even elements first, the odd ones behind them from the last on.
  Index place(Index i) const { return i % 2 == 0 ? i / 2 : n_ - 1 - i / 2; }
  static void set(double* first, double* second, Index i, const Complex& x) {
    first[i] = x.real();
    if (second != nullptr) second[i] = x.imag();
  }

  Index n_;
  Fourier fourier_;
  std::vector<Complex> turns_;
};

}  // namespace ocean_nlom::inline FL_ROLE
