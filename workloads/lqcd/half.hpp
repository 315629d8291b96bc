// Half spinors and SU(3) products, for numbers and for vectors of numbers alike: V is a number T or a vector of them.
//
// In the chiral basis g_mu = [[0, A], [A^+, 0]] with A_0 = -1, A_k = -i s_k, so (1 + sign g) psi has only two independent spins: the
// upper ones h = u + sign A l, and the lower ones are sign A^+ h. A half spinor is 12 reals, (spin * 3 + colour) * 2 + reim; a
// spinor 24, the upper spins first; a link 18, (row * 3 + column) * 2 + reim. Real number k of any of them is at k * width.
#pragma once

#include <cstddef>

#include "firstlight/simd.hpp"

namespace lqcd {

inline constexpr int half_reals = 12;

// A row of A or A^+: the one spin that it takes, times i^power.
struct Entry {
  int spin, power;
};
constexpr Entry upper_entry(int mu, int spin) {  // of A
  switch (mu) {
    case 0:
      return {spin, 2};
    case 1:
      return {1 - spin, 3};
    case 2:
      return {1 - spin, spin == 0 ? 2 : 0};
    default:
      return {spin, spin == 0 ? 3 : 1};
  }
}
constexpr Entry lower_entry(int mu, int spin) {  // of A^+: transposed and conjugated
  for (int from = 0; from < 2; ++from)
    if (const Entry e = upper_entry(mu, from); e.spin == spin) return {from, (4 - e.power) % 4};
  return {0, 0};
}
constexpr int signed_power(int power, int sign) { return sign > 0 ? power : (power + 2) % 4; }

// (re, im) += i^power (x_re, x_im)
template <int power, class V>
[[gnu::always_inline]] inline void add_turned(V& re, V& im, const V& x_re, const V& x_im) {
  if constexpr (power == 0) re += x_re, im += x_im;
  if constexpr (power == 1) re -= x_im, im += x_re;
  if constexpr (power == 2) re -= x_re, im -= x_im;
  if constexpr (power == 3) re += x_im, im -= x_re;
}

template <class V, class T>
inline constexpr int width_of = static_cast<int>(sizeof(V) / sizeof(T));

// h = upper part of (1 + sign g_mu) psi
template <int mu, int sign, class V, class T>
[[gnu::always_inline]] inline void project(V (&h)[half_reals], const T* psi) {
  constexpr int w = width_of<V, T>;
  fl::simd::unroll<6>([&](auto k) __attribute__((always_inline)) {
    constexpr int spin = k / 3, colour = k % 3;
    constexpr Entry e = upper_entry(mu, spin);
    constexpr int lower = half_reals + (e.spin * 3 + colour) * 2;
    V re = fl::simd::load<V>(psi + 2 * k * w), im = fl::simd::load<V>(psi + (2 * k + 1) * w);
    add_turned<signed_power(e.power, sign)>(re, im, fl::simd::load<V>(psi + lower * w), fl::simd::load<V>(psi + (lower + 1) * w));
    h[2 * k] = re;
    h[2 * k + 1] = im;
  });
}

// The two spins of row `row` of U h, or of U^+ h: r = (spin * 2 + reim)
template <bool adjoint, int row, class V, class T>
[[gnu::always_inline]] inline void multiply_row(V (&r)[4], const T* u, const V (&h)[half_reals]) {
  constexpr int w = width_of<V, T>;
  fl::simd::unroll<3>([&](auto column) __attribute__((always_inline)) {
    constexpr int at = (adjoint ? column * 3 + row : row * 3 + column) * 2;
    const V re = fl::simd::load<V>(u + at * w), im = fl::simd::load<V>(u + (at + 1) * w);
    fl::simd::unroll<2>([&](auto spin) __attribute__((always_inline)) {
      constexpr int from = (spin * 3 + column) * 2;
      if constexpr (column == 0) {
        r[2 * spin] = re * h[from];
        r[2 * spin + 1] = re * h[from + 1];
      } else {
        r[2 * spin] = r[2 * spin] + re * h[from];
        r[2 * spin + 1] = r[2 * spin + 1] + re * h[from + 1];
      }
      r[2 * spin] = adjoint ? r[2 * spin] + im * h[from + 1] : r[2 * spin] - im * h[from + 1];
      r[2 * spin + 1] = adjoint ? r[2 * spin + 1] - im * h[from] : r[2 * spin + 1] + im * h[from];
    });
  });
}

// sum += the spinor whose upper part is h and lower part sign A^+ h, of one colour: r = (spin * 2 + reim)
template <int mu, int sign, int colour, class V>
[[gnu::always_inline]] inline void add_whole(V (&sum)[24], const V (&r)[4]) {
  fl::simd::unroll<2>([&](auto spin) __attribute__((always_inline)) {
    constexpr int upper = (spin * 3 + colour) * 2, lower = half_reals + upper;
    constexpr Entry e = lower_entry(mu, spin);
    sum[upper] += r[2 * spin];
    sum[upper + 1] += r[2 * spin + 1];
    add_turned<signed_power(e.power, sign)>(sum[lower], sum[lower + 1], r[2 * e.spin], r[2 * e.spin + 1]);
  });
}

// sum += (1 + sign g_mu) U h, or U^+ h, with h the upper part
template <int mu, int sign, bool adjoint, class V, class T>
[[gnu::always_inline]] inline void add_product(V (&sum)[24], const T* u, const V (&h)[half_reals]) {
  fl::simd::unroll<3>([&](auto colour) __attribute__((always_inline)) {
    V r[4];
    multiply_row<adjoint, colour>(r, u, h);
    add_whole<mu, sign, colour>(sum, r);
  });
}

// sum += the spinor of the half spinor h
template <int mu, int sign, class V>
[[gnu::always_inline]] inline void add_half(V (&sum)[24], const V (&h)[half_reals]) {
  fl::simd::unroll<3>([&](auto colour) __attribute__((always_inline)) {
    const V r[4] = {h[2 * colour], h[2 * colour + 1], h[6 + 2 * colour], h[7 + 2 * colour]};
    add_whole<mu, sign, colour>(sum, r);
  });
}

}  // namespace lqcd
