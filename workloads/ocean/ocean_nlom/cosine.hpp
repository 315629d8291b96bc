// Cosine transforms of lines, x_n = (X_0 + 2 sum_{m > 0} X_m cos(pi m (n + 1/2) / N)) / N, by a Fourier transform of the same length
// (J. Makhoul, IEEE Trans. ASSP 28 (1980) 27). They are linear, so the parts of a complex line are two real ones.
#pragma once

#include <complex>

#include "ocean_nlom.hpp"

namespace ocean_nlom::inline FL_ROLE {

using Complex = std::complex<double>;

// Without what the standard asks for infinities.
inline Complex times(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Fourier transforms of lines of any length without a library: a line is cut by the smallest prime of its length, again and again.
class OwnFourier {
 public:
  explicit OwnFourier(Index n) : in(static_cast<std::size_t>(n)), out(in), n_(n), roots_(in), part_(in) {
    for (Index k = 0; k < n; ++k)
      roots_[static_cast<std::size_t>(k)] = std::polar(1.0, -2 * M_PI * static_cast<double>(k) / static_cast<double>(n));
  }
  std::vector<Complex> in, out;

  void forward() { cut(n_, 1, in.data(), out.data()); }
  // Without a factor.
  void backward() {
    for (Complex& x : in) x = std::conj(x);
    forward();
    for (Complex& x : out) x = std::conj(x);
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
