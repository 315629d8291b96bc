// The operations that the kernels need on their numbers: double, or a vector of doubles whose lanes are different quartets of shells.
#pragma once

#include <cmath>
#include <cstring>
#include <utility>

#include "firstlight/host_device.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace hartree_fock {

template <class V>
inline constexpr int lanes = static_cast<int>(sizeof(V) / sizeof(double));

template <class V>
[[gnu::always_inline]] FL_DEVICE V all(double x) {
  if constexpr (lanes<V> == 1)
    return x;
  else
    return x - V{};
}

template <class V>
double first_lane(const V& v) {
  if constexpr (lanes<V> == 1)
    return v;
  else
    return v[0];
}

template <class V>
[[gnu::always_inline]] FL_DEVICE V load(const double* from) {
  V v;
  memcpy(&v, from, sizeof v);
  return v;
}
template <class V>
[[gnu::always_inline]] FL_DEVICE void store(double* to, const V& v) {
  memcpy(to, &v, sizeof v);
}

// A compile-time constant; the standard's own is not available on a device.
template <int number>
struct Number {
  static constexpr int value = number;
  FL_DEVICE constexpr operator int() const { return number; }
};

namespace detail {
template <class F, int... k>
[[gnu::always_inline]] FL_DEVICE void repeat(F& body, std::integer_sequence<int, k...>) {
  (body(Number<k>()), ...);
}
}  // namespace detail

// body(0), body(1), ... written out, with numbers that are known to the compiler.
template <int count, class F>
[[gnu::always_inline]] FL_DEVICE void repeat(F&& body) {
  detail::repeat(body, std::make_integer_sequence<int, count>());
}

// The same where it need not be written out: on a device, whose registers have no numbers, it is.
template <int count, class F>
[[gnu::always_inline]] FL_DEVICE void each(F&& body) {
#if defined(__CUDA_ARCH__)
  repeat<count>(body);
#else
  for (int k = 0; k < count; ++k) body(k);
#endif
}

// In a loop over lanes gcc 12 and clang 14 compute one root after the other, each with a call for the sake of errno. -fno-math-errno helps,
// but it belongs to the flags under test, and neither compiler heeds it as an attribute of a function. Hence the two widths by name.
template <class V>
[[gnu::always_inline]] FL_DEVICE V root(V x) {
  if constexpr (lanes<V> == 1) {
    return sqrt(x);
  } else {
#if defined(__AVX512F__)
    if constexpr (lanes<V> == 8) return (V)_mm512_maskz_sqrt_pd(0xFF, (__m512d)x);  // the plain one warns in gcc 12
#endif
#if defined(__AVX__)
    if constexpr (lanes<V> == 4) return (V)_mm256_sqrt_pd((__m256d)x);
#endif
    for (int k = 0; k < lanes<V>; ++k) x[k] = sqrt(x[k]);
    return x;
  }
}

// Eight numbers of a table at a place of their own for each lane.
template <class V>
struct Rows {
  V term[8];

  // The row nearest to `place`, which is not negative, of rows of eight numbers; returns its number.
  [[gnu::always_inline]] FL_DEVICE V nearest(const double* rows, V place) {
    if constexpr (lanes<V> == 1) {
      const int row = static_cast<int>(place + 0.5);
      for (int k = 0; k < 8; ++k) term[k] = rows[8 * row + k];
      return row;
    } else {
      return several(rows, place);
    }
  }

#if !defined(__CUDACC__)
 private:
  V several(const double* rows, V place) {
    typedef int Numbers __attribute__((vector_size(lanes<V> * sizeof(int))));
    const Numbers row = __builtin_convertvector(place + 0.5, Numbers);
    transpose(rows, row);
    return __builtin_convertvector(row, V);
  }

  // A row is a whole cache line: loads of as much as fits into a vector, then exchanges in registers.
  template <class Numbers>
  void transpose(const double* rows, const Numbers& row) {
#if __has_builtin(__builtin_shufflevector)
    if constexpr (lanes<V> == 8) {
      V a[8], b[8];
      for (int k = 0; k < 4; ++k) {
        const V even = load<V>(rows + 8 * row[2 * k]), odd = load<V>(rows + 8 * row[2 * k + 1]);
        a[k] = __builtin_shufflevector(even, odd, 0, 8, 2, 10, 4, 12, 6, 14);
        a[k + 4] = __builtin_shufflevector(even, odd, 1, 9, 3, 11, 5, 13, 7, 15);
      }
      for (int k = 0; k < 8; k += 2) {
        b[k] = __builtin_shufflevector(a[k], a[k + 1], 0, 1, 4, 5, 8, 9, 12, 13);
        b[k + 1] = __builtin_shufflevector(a[k], a[k + 1], 2, 3, 6, 7, 10, 11, 14, 15);
      }
      for (int k = 0; k < 2; ++k) {
        term[k] = __builtin_shufflevector(b[4 * k], b[4 * k + 2], 0, 1, 4, 5, 8, 9, 12, 13);
        term[k + 4] = __builtin_shufflevector(b[4 * k], b[4 * k + 2], 2, 3, 6, 7, 10, 11, 14, 15);
        term[k + 2] = __builtin_shufflevector(b[4 * k + 1], b[4 * k + 3], 0, 1, 4, 5, 8, 9, 12, 13);
        term[k + 6] = __builtin_shufflevector(b[4 * k + 1], b[4 * k + 3], 2, 3, 6, 7, 10, 11, 14, 15);
      }
      return;
    } else if constexpr (lanes<V> == 4) {
      for (int half = 0; half < 8; half += 4) {
        V a[4];
        for (int k = 0; k < 2; ++k) {
          const V even = load<V>(rows + 8 * row[2 * k] + half), odd = load<V>(rows + 8 * row[2 * k + 1] + half);
          a[k] = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
          a[k + 2] = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
        }
        for (int k = 0; k < 2; ++k) {
          term[half + k] = __builtin_shufflevector(a[2 * k], a[2 * k + 1], 0, 1, 4, 5);
          term[half + k + 2] = __builtin_shufflevector(a[2 * k], a[2 * k + 1], 2, 3, 6, 7);
        }
      }
      return;
    }
#endif
    for (int k = 0; k < 8; ++k)
      for (int lane = 0; lane < lanes<V>; ++lane) term[k][lane] = rows[8 * row[lane] + k];
  }
#endif
};

}  // namespace hartree_fock
