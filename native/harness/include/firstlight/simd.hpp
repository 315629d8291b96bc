// Portable SIMD over the compilers' vector extensions: as wide as the target of this compilation.
#pragma once

#include <cstring>
#include <utility>

#include "firstlight/role.hpp"

// Before a loop whose iterations do not depend on each other, which the compiler cannot see.
#if defined(__clang__)
#define FL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define FL_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace fl::inline FL_ROLE::simd {

#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
inline constexpr int bytes = __ARM_FEATURE_SVE_BITS / 8;  // of SVE, whose length is a compiler option: it is not a constant otherwise
#elif defined(__AVX512F__)
inline constexpr int bytes = 64;
#elif defined(__AVX__)
inline constexpr int bytes = 32;
#else
inline constexpr int bytes = 16;  // SSE2, NEON, VSX: the least that a vector unit has
#endif

#if (defined(__x86_64__) || defined(__i386__)) && !defined(__AVX512F__)
inline constexpr int registers = 16;
#else
inline constexpr int registers = 32;
#endif

template <class T>
inline constexpr int width = bytes / static_cast<int>(sizeof(T));

template <class T, int lanes>
struct vector_of {
  typedef T type __attribute__((vector_size(lanes * sizeof(T))));
};
template <class T, int lanes>
using vector = typename vector_of<T, lanes>::type;
template <class T>
using native = vector<T, width<T>>;

template <class V, class T>
[[gnu::always_inline]] inline V load(const T* from) {  // no alignment needed
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class V, class T>
[[gnu::always_inline]] inline void store(T* to, const V& v) {
  std::memcpy(to, &v, sizeof v);
}

namespace detail {
template <class F, int... k>
[[gnu::always_inline]] inline void unroll(F& body, std::integer_sequence<int, k...>) {
  (body(std::integral_constant<int, k>()), ...);
}
}  // namespace detail

// body(0), body(1), ... written out, at -O2 too: an array of vectors indexed by a loop that stays a loop lives in memory.
template <int count, class F>
[[gnu::always_inline]] inline void unroll(F&& body) {
  detail::unroll(body, std::make_integer_sequence<int, count>());
}

// body(i) for the last elements, at most `width`. With two conditions, because a compiler that sees a plain loop vectorises it
// once more, for lengths that never occur. Vector loops leave it at least one element: inputs that change between steps change
// there, and a wide load cannot take a value from a store that is still under way.
template <int width, class I, class F>
[[gnu::always_inline]] inline void rest(I first, I last, F&& body) {
  I i = first;
  for (int k = 0; k < width && i < last; ++k, ++i) body(i);
}

namespace detail {
#if __has_builtin(__builtin_shufflevector) && !defined(__CUDACC__)  // nvcc hands the host's compiler something else
template <class T, int count, class V, int... k>
[[gnu::always_inline]] inline T lanes(const V& v, std::integer_sequence<int, k...>) {
  if constexpr (count == 2) {
    return v[0] + v[1];
  } else {
    const auto half = __builtin_shufflevector(v, v, k...) + __builtin_shufflevector(v, v, (k + count / 2)...);
    return lanes<T, count / 2>(half, std::make_integer_sequence<int, count / 4>());
  }
}
#else
template <class T, int count, class V, int... k>
[[gnu::always_inline]] inline T lanes(const V& v, std::integer_sequence<int, k...>) {
  T total = v[0];
  for (int lane = 1; lane < count; ++lane) total += v[lane];
  return total;
}
#endif

// Rows k and k + step of each 2 step exchange a block of `step` lanes: of `low` the odd blocks, of `high` the even ones.
template <int step, class V, int... k>
[[gnu::always_inline]] inline void cross(V& low, V& high, std::integer_sequence<int, k...>) {
  constexpr int lanes = sizeof...(k);
#if __has_builtin(__builtin_shufflevector) && !defined(__CUDACC__)
  const V first = __builtin_shufflevector(low, high, (k / step % 2 == 0 ? k : lanes + k - step)...);
  high = __builtin_shufflevector(low, high, (k / step % 2 == 0 ? k + step : lanes + k)...);
  low = first;
#else
  const V first = low, second = high;
  ((low[k] = k / step % 2 == 0 ? first[k] : second[(k + lanes - step) % lanes],
    high[k] = k / step % 2 == 0 ? first[(k + step) % lanes] : second[k]),
   ...);
#endif
}
template <int step, class V, int lanes>
[[gnu::always_inline]] inline void cross_all(V (&rows)[lanes]) {
  simd::unroll<lanes / 2>([&](auto pair) __attribute__((always_inline)) {
    constexpr int row = pair / step * 2 * step + pair % step;
    cross<step>(rows[row], rows[row + step], std::make_integer_sequence<int, lanes>());
  });
  if constexpr (step > 1) cross_all<step / 2>(rows);
}
}  // namespace detail

// Rows of a square, as many vectors as each has lanes, become its columns.
template <class V, int lanes>
[[gnu::always_inline]] inline void transpose(V (&rows)[lanes]) {
  if constexpr (lanes > 1) detail::cross_all<lanes / 2>(rows);
}

// unzip() separates the even and the odd elements of two vectors, one behind the other. zip() interleaves two such vectors again.
namespace detail {
template <class V, int... k>
[[gnu::always_inline]] inline std::pair<V, V> unzip(const V& a, const V& b, std::integer_sequence<int, k...>) {
#if __has_builtin(__builtin_shufflevector) && !defined(__CUDACC__)
  return {__builtin_shufflevector(a, b, (2 * k)...), __builtin_shufflevector(a, b, (2 * k + 1)...)};
#else
  constexpr int lanes = sizeof...(k);
  V even, odd;
  ((even[k] = 2 * k < lanes ? a[2 * k % lanes] : b[2 * k % lanes],
    odd[k] = 2 * k < lanes ? a[(2 * k + 1) % lanes] : b[(2 * k + 1) % lanes]),
   ...);
  return {even, odd};
#endif
}
template <class V, int... k>
[[gnu::always_inline]] inline std::pair<V, V> zip(const V& even, const V& odd, std::integer_sequence<int, k...>) {
  constexpr int lanes = sizeof...(k);
#if __has_builtin(__builtin_shufflevector) && !defined(__CUDACC__)
  return {__builtin_shufflevector(even, odd, (k / 2 + k % 2 * lanes)...),
          __builtin_shufflevector(even, odd, ((lanes + k) / 2 + (lanes + k) % 2 * lanes)...)};
#else
  V low, high;
  ((low[k] = k % 2 == 0 ? even[k / 2] : odd[k / 2], high[k] = (lanes + k) % 2 == 0 ? even[(lanes + k) / 2] : odd[(lanes + k) / 2]), ...);
  return {low, high};
#endif
}
}  // namespace detail
template <class V>
inline constexpr int lanes_of = sizeof(V) / sizeof(std::declval<V>()[0]);
template <class V>
[[gnu::always_inline]] inline std::pair<V, V> unzip(const V& a, const V& b) {
  return detail::unzip(a, b, std::make_integer_sequence<int, lanes_of<V>>());
}
template <class V>
[[gnu::always_inline]] inline std::pair<V, V> zip(const V& even, const V& odd) {
  return detail::zip(even, odd, std::make_integer_sequence<int, lanes_of<V>>());
}

// The sum of `count` vectors (a power of two) over vectors and lanes, in pairs: the shortest chain of additions.
template <class T, int count>
[[gnu::always_inline]] inline T reduce(const native<T> (&sum)[count]) {
  if constexpr (count == 1) {
    return detail::lanes<T, width<T>>(sum[0], std::make_integer_sequence<int, width<T> / 2>());
  } else {
    native<T> half[count / 2];
    unroll<count / 2>([&](auto k) { half[k] = sum[k] + sum[k + count / 2]; });
    return reduce<T>(half);
  }
}

}  // namespace fl::inline FL_ROLE::simd
