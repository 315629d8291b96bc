// Fourier transforms of lines in vectors, of lengths that the square of a vector's lanes divides. Lane l transforms the numbers l, l + L, l + 2 L, ...
// of a line of n = L m, with the same operations as all others, by passes that need no order of bits (T. Stockham, AFIPS 28 (1966) 229); then
//
//   X(k + m q) = sum_l W_L^(l q) W_n^(l k) Y_l(k),    W_n = exp(-2 pi i / n)
//
// for L values of k at once, for which lanes and vectors change places.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "firstlight/simd.hpp"
#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

template <int lanes>
class FourierInLanes {
  using V = simd::vector<double, lanes>;
  struct Pair {
    V re, im;
  };

 public:
  static bool suits(Index n) { return n % (lanes * lanes) == 0; }

  explicit FourierInLanes(Index n) : m_(n / lanes), here_(2 * n), there_(2 * n), turns_(2 * n) {
    const auto root = [](Index of, Index k) {
      return std::polar(1.0L, -2 * M_PIl * static_cast<long double>(k % of) / static_cast<long double>(of));
    };
    for (Index left = m_, stride = 1; left > 1;) {
      const Index radix = simd::registers >= 32 && left % 8 == 0 ? 8 : left % 4 == 0 ? 4 : smallest_prime(left), parts = left / radix;
      Pass pass{radix, parts, stride, {}, {}};
      for (Index p = 0; p < parts; ++p)
        for (Index k = 1; k < radix; ++k) pass.turns.emplace_back(root(left, p * k));
      for (Index k = 0; radix > 8 && k < radix; ++k) pass.roots.emplace_back(root(radix, k));
      passes_.push_back(std::move(pass));
      left = parts, stride *= radix;
    }
    for (Index k = 0; k < m_; ++k)  // vectors of so many k, of each lane but the first
      for (int l = 0; l < lanes; ++l) {
        const auto turn = root(n, k * l);
        double* to = turns_.data() + 2 * ((k / lanes * lanes + l) * lanes) + k % lanes;
        to[0] = static_cast<double>(turn.real()), to[lanes] = static_cast<double>(turn.imag());
      }
  }

  // From a line that stays as it is to one apart from it; `back`: with the other sign, without a factor.
  void operator()(const std::complex<double>* from, std::complex<double>* to, bool back) {
    double *x = here_.data(), *y = there_.data();
    const auto line = [ from, back ](Index j) __attribute__((always_inline)) {
      return split(reinterpret_cast<const double*>(from + j * lanes), back);
    };
    // The usual first passes take numbers as they come; to compile the others so, too, would take as long again.
    std::size_t n = 0;
    if (const Index radix = passes_.empty() ? 1 : passes_.front().radix; radix == 8)
      by<8>(passes_[n++], line, x);
    else if (radix == 4)
      by<4>(passes_[n++], line, x);
    else
      for (Index j = 0; j < m_; ++j) put(x, j, line(j));
    for (; n < passes_.size(); ++n) {
      go(passes_[n], [x](Index j) __attribute__((always_inline)) { return get(x, j); }, y);
      std::swap(x, y);
    }
    for (Index k = 0; k < m_; k += lanes) join(x, k, to, back);
  }

 private:
  // A pass combines `radix` parts of `parts` numbers each, which are `stride` apart.
  struct Pass {
    Index radix, parts, stride;
    std::vector<std::complex<double>> turns, roots;
  };

  static Index smallest_prime(Index n) {
    for (Index p = 2; p * p <= n; ++p)
      if (n % p == 0) return p;
    return n;
  }
  [[gnu::always_inline]] static Pair get(const double* x, Index j) {
    return {simd::load<V>(x + 2 * lanes * j), simd::load<V>(x + 2 * lanes * j + lanes)};
  }
  [[gnu::always_inline]] static void put(double* x, Index j, const Pair& a) {
    simd::store(x + 2 * lanes * j, a.re), simd::store(x + 2 * lanes * j + lanes, a.im);
  }
  [[gnu::always_inline]] static Pair plus(const Pair& a, const Pair& b) { return {a.re + b.re, a.im + b.im}; }
  [[gnu::always_inline]] static Pair minus(const Pair& a, const Pair& b) { return {a.re - b.re, a.im - b.im}; }
  [[gnu::always_inline]] static Pair turned(const Pair& a) { return {a.im, -a.re}; }  // by -i
  template <class T>
  [[gnu::always_inline]] static Pair times(const Pair& a, const T& re, const T& im) {
    return {a.re * re - a.im * im, a.re * im + a.im * re};
  }
  [[gnu::always_inline]] static Pair times(const Pair& a, const std::complex<double>& b) { return times(a, b.real(), b.imag()); }

  // from(j): the number j.
  template <class From>
  static void go(const Pass& pass, const From& from, double* to) {
    switch (pass.radix) {
      case 8:
        return by<8>(pass, from, to);
      case 4:
        return by<4>(pass, from, to);
      case 2:
        return by<2>(pass, from, to);
      case 3:
        return by<3>(pass, from, to);
      case 5:
        return by<5>(pass, from, to);
      case 7:
        return by<7>(pass, from, to);
      default:
        return by_any(pass, from, to);
    }
  }
  template <int r, class From>
  static void by(const Pass& pass, const From& from, double* to) {
    const Index s = pass.stride, far = s * pass.parts;
    for (Index p = 0; p < pass.parts; ++p) {
      std::array<std::complex<double>, r> turns;
      for (int k = 1; k < r; ++k) turns[static_cast<std::size_t>(k)] = pass.turns[static_cast<std::size_t>((r - 1) * p + k - 1)];
      for (Index q = 0; q < s; ++q) {
        std::array<Pair, r> x;
        simd::unroll<r>([&](auto j) __attribute__((always_inline)) { x[j] = from(q + s * p + j * far); });
        x = small<r>(x);
        simd::unroll<r>([&](auto k)
                            __attribute__((always_inline)) { put(to, q + s * (r * p + k), k == 0 ? x[k] : times(x[k], turns[k])); });
      }
    }
  }
  // Handles any radix r, with r^2 products.
  template <class From>
  static void by_any(const Pass& pass, const From& from, double* to) {
    const Index r = pass.radix, s = pass.stride, far = s * pass.parts;
    for (Index p = 0; p < pass.parts; ++p)
      for (Index k = 0; k < r; ++k)
        for (Index q = 0; q < s; ++q) {
          Pair sum = from(q + s * p);
          for (Index j = 1; j < r; ++j) sum = plus(sum, times(from(q + s * p + j * far), pass.roots[static_cast<std::size_t>(j * k % r)]));
          put(to, q + s * (r * p + k), k == 0 ? sum : times(sum, pass.turns[static_cast<std::size_t>((r - 1) * p + k - 1)]));
        }
  }
  // Lanes of vectors k, k + 1, ... as many as a vector has.
  [[gnu::always_inline]] void join(const double* x, Index k, std::complex<double>* to, bool back) const {
    V re[lanes], im[lanes];
    simd::unroll<lanes>([&](auto j) __attribute__((always_inline)) {
      const Pair a = get(x, k + j);
      re[j] = a.re, im[j] = a.im;
    });
    simd::transpose(re), simd::transpose(im);
    std::array<Pair, lanes> y;
    simd::unroll<lanes>([&](auto l) __attribute__((always_inline)) {
      y[l] = {re[l], im[l]};
      if constexpr (l > 0) {
        const Pair turn = get(turns_.data(), k + l);
        y[l] = times(y[l], turn.re, turn.im);
      }
    });
    y = small<lanes>(y);
    simd::unroll<lanes>([&](auto q) __attribute__((always_inline)) { merge(y[q], reinterpret_cast<double*>(to + k + m_ * q), back); });
  }
  // A transform of a few vectors.
  template <int n>
  [[gnu::always_inline]] static std::array<Pair, n> small(const std::array<Pair, n>& x) {
    if constexpr (n == 1) {
      return x;
    } else if constexpr (n % 2 == 1) {  // numbers j and n - j turn alike, one of them the other way
      std::array<Pair, n> y;
      y[0] = x[0];
      simd::unroll<n / 2>([&](auto j) __attribute__((always_inline)) { y[0] = plus(y[0], plus(x[j + 1], x[n - 1 - j])); });
      simd::unroll<n / 2>([&](auto half) __attribute__((always_inline)) {
        constexpr int k = half + 1;
        Pair along = x[0], across{};
        simd::unroll<n / 2>([&](auto before) __attribute__((always_inline)) {
          constexpr int j = before + 1;
          const Pair both = plus(x[j], x[n - j]), apart = minus(x[j], x[n - j]);
          const double c = std::cos(2 * M_PI * (j * k % n) / n), d = std::sin(2 * M_PI * (j * k % n) / n);
          along = {along.re + c * both.re, along.im + c * both.im};
          across = {across.re + d * apart.re, across.im + d * apart.im};
        });
        y[k] = plus(along, turned(across)), y[n - k] = minus(along, turned(across));
      });
      return y;
    } else {
      std::array<Pair, n / 2> even, odd;
      simd::unroll<n / 2>([&](auto j) __attribute__((always_inline)) {
        even[j] = plus(x[j], x[j + n / 2]);
        odd[j] = minus(x[j], x[j + n / 2]);
        if constexpr (4 * j == n)
          odd[j] = turned(odd[j]);
        else if constexpr (j > 0)
          odd[j] = times(odd[j], std::cos(2 * M_PI * j / n), -std::sin(2 * M_PI * j / n));
      });
      even = small<n / 2>(even), odd = small<n / 2>(odd);
      std::array<Pair, n> y;
      simd::unroll<n / 2>([&](auto q) __attribute__((always_inline)) { y[2 * q] = even[q], y[2 * q + 1] = odd[q]; });
      return y;
    }
  }
  // As many complex numbers as a vector has lanes, to real and imaginary parts, and back. The other sign is the same with the parts exchanged.
  [[gnu::always_inline]] static Pair split(const double* from, bool back) {
    const V a = simd::load<V>(from), b = simd::load<V>(from + lanes);
    const auto [even, odd] = simd::unzip(a, b);
    return back ? Pair{odd, even} : Pair{even, odd};
  }
  [[gnu::always_inline]] static void merge(const Pair& a, double* to, bool back) {
    const auto [low, high] = back ? simd::zip(a.im, a.re) : simd::zip(a.re, a.im);
    simd::store(to, low), simd::store(to + lanes, high);
  }

  Index m_ = 0;
  fl::Array<double> here_, there_, turns_;  // vectors of real parts, each before that of its imaginary ones
  std::vector<Pass> passes_;
};

}  // namespace fl::inline FL_ROLE
