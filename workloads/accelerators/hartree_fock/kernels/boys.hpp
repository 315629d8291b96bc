// The Boys function F_m(t), the integral from 0 to 1 of u^(2m) exp(-t u^2), for m up to 4, to 1e-14.
//
// A row of the table contains the Taylor series of F_(m-1) around a point; F_m is its derivative with the sign changed, and the two give
// exp(-t), with which the recursion downwards is stable. One row is one cache line: a vector of t loads a row for each of its lanes and
// transposes them, which is several times as fast as gathering the terms one by one. Far out, where exp(-t) does not count any more,
// F_m is (2m-1)!! sqrt(pi / (2t)^(2m+1) / 2); the row beyond the last makes the same code return (2m-1)!!, and the caller has the rest.
#pragma once

#include <cmath>

#include "lanes.hpp"

namespace hartree_fock {

struct Boys {
  static constexpr int most = 4;       // m
  static constexpr int terms = 8;      // of a series: half a step to the eighth over 8! is below 1e-15
  static constexpr int per_unit = 12;  // points
  static constexpr int last = 36;      // exp(-36) is 2e-16
  static constexpr int rows = last * per_unit + 2;

  alignas(64) double row[most + 1][rows][terms];

  Boys() {
    for (int r = 0; r < rows - 1; ++r) {
      long double f[most + terms];
      exact(static_cast<long double>(r) / per_unit, f);
      for (int m = 0; m <= most; ++m) {
        long double factor = 1;
        for (int k = 0; k < terms; ++k, factor /= -k) row[m][r][k] = static_cast<double>(factor * f[(m > 0 ? m - 1 : 0) + k]);
      }
    }
    for (int m = 0; m <= most; ++m) {
      double below = 1;  // (2m-3)!!
      for (int k = 3; k < 2 * m - 1; k += 2) below *= k;
      double* far = row[m][rows - 1];
      for (int k = 0; k < terms; ++k) far[k] = 0;
      far[0] = below;
      if (m > 0) far[1] = -below * (2 * m - 1);
    }
  }

  // The highest by a series of positive terms, the others by recursion downwards.
  static void exact(long double t, long double (&f)[most + terms]) {
    constexpr int highest = most + terms - 1;
    long double term = 1.L / (2 * highest + 1), sum = term;
    for (int k = 1; term > sum * 1e-22L; ++k) sum += term *= 2 * t / (2 * (highest + k) + 1);
    const long double e = std::exp(-t);
    f[highest] = e * sum;
    for (int m = highest; m > 0; --m) f[m - 1] = (2 * t * f[m] + e) / (2 * m - 1);
  }

  static const Boys& table() {
    static const Boys made;
    return made;
  }
  // The argument of f() for m: on a device the copy of the same rows.
  template <int m>
  const double* of() const {
    return row[m][0];
  }
};

// f[0..m] at t <= Boys::last; where `far` is set, (2m-1)!!, and t may be anything.
template <int m, class V, class Mask>
[[gnu::always_inline]] FL_DEVICE void boys(const double* rows, V t, Mask far, V (&f)[m + 1]) {
  constexpr int per_unit = Boys::per_unit, special = Boys::rows - 1;
  const V place = far ? all<V>(special) : t * static_cast<double>(per_unit);
  Rows<V> series;
  const V point = series.nearest(rows, place);
  const V d = (place - point) * (1.0 / per_unit);
  V sum = series.term[Boys::terms - 1];
  if constexpr (m == 0) {
    repeat<Boys::terms - 1>([&](auto k) __attribute__((always_inline)) { sum = sum * d + series.term[Boys::terms - 2 - k]; });
    f[0] = sum;
  } else {
    V derivative = all<V>(0);
    repeat<Boys::terms - 1>([&](auto k) __attribute__((always_inline)) {
      derivative = derivative * d + sum;
      sum = sum * d + series.term[Boys::terms - 2 - k];
    });
    f[m] = -derivative, f[m - 1] = sum;
    const V twice = far ? all<V>(1) : 2.0 * t;
    const V e = (2.0 * m - 1) * sum + twice * derivative;
    repeat<m - 1>([&](auto k) __attribute__((always_inline)) {
      constexpr int low = m - 2 - k;
      f[low] = (twice * f[low + 1] + e) * (1.0 / (2 * low + 1));
    });
  }
}

}  // namespace hartree_fock
