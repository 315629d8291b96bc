// Parts of rows by SIMD: columns `from` to `to` of row i, a vector of cells at a time and what is left one by one.
#pragma once

#include <algorithm>

#include "firstlight/simd.hpp"
#include "rows.hpp"

namespace fdtd2d {

// The lanes of two vectors that are side by side, one further back, and one further on.
#if __has_builtin(__builtin_shufflevector)
template <class V, int... k>
[[gnu::always_inline]] inline V shuffled(const V& a, const V& b, std::integer_sequence<int, k...>, auto first) {
  return __builtin_shufflevector(a, b, (first + k)...);
}
template <class T>
[[gnu::always_inline]] inline fl::simd::native<T> one_back(const fl::simd::native<T>& before, const fl::simd::native<T>& v) {
  constexpr int width = fl::simd::width<T>;
  return shuffled(before, v, std::make_integer_sequence<int, width>(), std::integral_constant<int, width - 1>());
}
template <class T>
[[gnu::always_inline]] inline fl::simd::native<T> one_on(const fl::simd::native<T>& v, const fl::simd::native<T>& after) {
  return shuffled(v, after, std::make_integer_sequence<int, fl::simd::width<T>>(), std::integral_constant<int, 1>());
}
#else
template <class T>
[[gnu::always_inline]] inline fl::simd::native<T> one_back(const fl::simd::native<T>& before, fl::simd::native<T> v) {
  for (int k = fl::simd::width<T> - 1; k > 0; --k) v[k] = v[k - 1];
  v[0] = before[fl::simd::width<T> - 1];
  return v;
}
template <class T>
[[gnu::always_inline]] inline fl::simd::native<T> one_on(fl::simd::native<T> v, const fl::simd::native<T>& after) {
  for (int k = 1; k < fl::simd::width<T>; ++k) v[k - 1] = v[k];
  v[fl::simd::width<T> - 1] = after[0];
  return v;
}
#endif

// body(j, a vector or a number)
template <class T, class Body>
[[gnu::always_inline]] inline void each_lane(Index from, Index to, const Body& body) {
  constexpr Index width = fl::simd::width<T>;
  Index j = from;
  for (; j + width <= to; j += width) body(j, fl::simd::native<T>{});
  for (; j < to; ++j) body(j, T{});
}

template <class T>
void lanes_e(const Job<T>& job, Index i, Index from, Index to, Index t) {
  T* e = &job.ez(i, 0);
  const T *ca = &job.ca(i, 0), *cb = &job.cb(i, 0), *x = &job.hx(i, 0), *y = &job.hy(i, 0), *before = &job.hy(i - 1, 0);
  each_lane<T>(
      from, to, [=](Index j, auto lane) __attribute__((always_inline)) {
        using V = decltype(lane);
        const auto at = [j](const T* row) __attribute__((always_inline)) { return fl::simd::load<V>(row + j); };
        fl::simd::store(e + j, updated_ez<V>(at(e), at(ca), at(cb), at(y), at(before), at(x), at(x - 1)));
      });
  extra_e(job, i, from, to, t);
}

template <class T>
void lanes_hx(const Job<T>& job, Index i, Index from, Index to) {
  T* x = &job.hx(i, 0);
  const T* e = &job.ez(i, 0);
  each_lane<T>(
      from, to, [ =, s = job.s ](Index j, auto lane) __attribute__((always_inline)) {
        using V = decltype(lane);
        const auto at = [j](const T* row) __attribute__((always_inline)) { return fl::simd::load<V>(row + j); };
        fl::simd::store(x + j, updated_hx<V>(at(x), s, at(e), at(e + 1)));
      });
  extra_hx(job, i, from, to);
}

template <class T>
void lanes_hy(const Job<T>& job, Index i, Index from, Index to) {
  T* y = &job.hy(i, 0);
  const T *e = &job.ez(i, 0), *next = &job.ez(i + 1, 0);
  each_lane<T>(
      from, to, [ =, s = job.s ](Index j, auto lane) __attribute__((always_inline)) {
        using V = decltype(lane);
        const auto at = [j](const T* row) __attribute__((always_inline)) { return fl::simd::load<V>(row + j); };
        fl::simd::store(y + j, updated_hy<V>(at(y), s, at(e), at(next)));
      });
  extra_hy(job, i, from, to);
}

}  // namespace fdtd2d
