// What is known of a Fourier transform: its input is a function of the index, so every process knows all of it.
#pragma once

#include <cfloat>
#include <cmath>

#include "firstlight/error_summary.hpp"
#include "firstlight/fourier.hpp"

namespace spectral {

using Long = std::complex<long double>;

// exp(2 pi i turns)
inline Long unit(long double turns) {
  const long double angle = 2 * M_PIl * (turns - std::floor(turns));
  return {std::cos(angle), std::sin(angle)};
}

// A point that changed last in this iteration, or never (-1).
inline fl::Complex point(fl::Index j, fl::Index iteration) {
  const std::uint64_t place = 2 * (static_cast<std::uint64_t>(j) * 0x100000001b3ull + static_cast<std::uint64_t>(iteration + 1));
  return {fl::uniform(place), fl::uniform(place + 1)};
}

// HPC Challenge's rule, for what is of magnitude 1.
inline double allowed(fl::Index n) { return 16 * DBL_EPSILON * std::max(1.0, std::log2(static_cast<double>(n))); }

inline void consider(fl::WorstError& worst, const char* what, fl::Index k, const Long& found, const Long& wanted, double allowed) {
  const double error = static_cast<double>(std::abs(found - wanted));
  if (worst.exceeded_by(error, allowed))
    worst.consider(error, allowed, [&] {
      return fl::text("%s %lld is %.17g + %.17g i, should be %.17g + %.17g i", what, k, static_cast<double>(found.real()),
                      static_cast<double>(found.imag()), static_cast<double>(wanted.real()), static_cast<double>(wanted.imag()));
    });
}

inline Long total(const Long& mine) { return {fl::total(static_cast<double>(mine.real())), fl::total(static_cast<double>(mine.imag()))}; }

// A frequency between points of a line, drawn for each launch: t + f of n, 1/4 <= f < 3/4.
class Between {
 public:
  Between(std::uint64_t draw, fl::Index n) : n_(n) {
    const std::uint64_t h = fl::hash(fl::seed() + draw);
    t_ = static_cast<fl::Index>(h % static_cast<std::uint64_t>(n));
    f_ = 0.25L + static_cast<long double>(h >> 40) / (1 << 25);
  }
  fl::Index frequency() const { return t_; }
  // exp(2 pi i k (t + f) / n): of each point of the result a part of the same magnitude.
  Long wave(fl::Index k) const {
    return unit((static_cast<long double>(k * t_ % n_) + static_cast<long double>(k) * f_) / static_cast<long double>(n_));
  }
  // What a point of the input adds to the sum of the waves, for that sum over k is geometric: (exp(2 pi i f) - 1) / (exp(2 pi i (t + f - j) / n) - 1).
  Long share(fl::Index j) const {
    const long double half =
        (static_cast<long double>(t_ - j) + f_) / (2 * static_cast<long double>(n_));  // exp(2 i a) - 1 = 2 i sin(a) exp(i a)
    return (unit(f_) - Long(1)) / (Long(0, 2 * std::sin(2 * M_PIl * half)) * unit(half));
  }

 private:
  fl::Index n_, t_;
  long double f_;
};

// The sums of squares of the result over n and of the input.
inline void compare_squares(long double found, long double wanted, fl::Index n, fl::WorstError& worst) {
  const double squares = fl::total(static_cast<double>(found)) / static_cast<double>(n), should = fl::total(static_cast<double>(wanted));
  worst.consider(std::fabs(squares - should), allowed(n) * should,
                 [&] { return fl::text("the squares add up to %.17g n, should be %.17g n", squares, should); });
}

}  // namespace spectral
