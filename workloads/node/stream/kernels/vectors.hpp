// The five operations on a part of the arrays with explicit SIMD: what the vector variants share, in one thread or several.
#pragma once

#include "stream.hpp"

#include "firstlight/nontemporal.hpp"
#include "firstlight/simd.hpp"

namespace stream {

using Vector = fl::simd::native<double>;
inline constexpr int width = fl::simd::width<double>;

enum class Store { ordinary, nontemporal };

// out = f(x, y) for first <= i < last; first is a multiple of the width and arrays start on a line, so stores are aligned.
template <Store kind, bool two, class F>
[[gnu::always_inline]] inline void map(State& s, fl::Index first, fl::Index last, F f) {
  constexpr int vectors = 4;
  const double* __restrict x = s.x.data();
  const double* __restrict y = s.y.data();
  double* __restrict out = s.out.data();
  const auto one = [&](fl::Index i) __attribute__((always_inline)) {
    const Vector a = fl::simd::load<Vector>(x + i);
    const Vector value = f(a, two ? fl::simd::load<Vector>(y + i) : a);
    if constexpr (kind == Store::nontemporal)
      fl::nontemporal::store(out + i, value);
    else
      fl::simd::store(out + i, value);
  };
  fl::Index i = first;
  for (; i + vectors * width < last; i += vectors * width)
    fl::simd::unroll<vectors>([&](auto k) __attribute__((always_inline)) { one(i + k * width); });
  for (; i + width < last; i += width) one(i);
  fl::simd::rest<width>(i, last, [&](fl::Index j) { out[j] = f(x[j], two ? y[j] : 0.0); });
}

// The sum of x from first to last, read as two halves side by side: caches deliver two streams faster than one. Eight chains in
// all hide four cycles of latency at two loads and two additions a cycle.
inline double load(const double* x, fl::Index first, fl::Index last) {
  constexpr int chains = 4, streams = 2, block = chains * width;
  const fl::Index half = std::max<fl::Index>(last - first - 1, 0) / (streams * block) * block;
  const double* left = x + first;
  const double* right = left + half;
  Vector sum[streams * chains] = {};
  for (fl::Index i = 0; i < half; i += block)
    fl::simd::unroll<chains>([&](auto k) __attribute__((always_inline)) {
      sum[k] += fl::simd::load<Vector>(left + i + k * width);
      sum[k + chains] += fl::simd::load<Vector>(right + i + k * width);
    });
  fl::Index i = first + streams * half;
  for (; i + width < last; i += width) sum[0] += fl::simd::load<Vector>(x + i);
  double rest = 0;
  fl::simd::rest<width>(i, last, [&](fl::Index j) { rest += x[j]; });
  return fl::simd::reduce<double>(sum) + rest;
}

template <Store kind>
inline void stores(State& s, fl::Index first, fl::Index last) {
  switch (s.op) {
    case Op::copy:
      return map<kind, false>(s, first, last, [](auto x, auto) __attribute__((always_inline)) { return x; });
    case Op::scale:
      return map<kind, false>(s, first, last, [](auto x, auto) __attribute__((always_inline)) { return q * x; });
    case Op::add:
      return map<kind, true>(s, first, last, [](auto x, auto y) __attribute__((always_inline)) { return x + y; });
    default:
      return map<kind, true>(s, first, last, [](auto x, auto y) __attribute__((always_inline)) { return x + q * y; });
  }
}

// The whole operation with ordinary stores, in one thread.
inline void compute(State& s) {
  if (s.op == Op::load)
    s.result = load(s.x.data(), 0, s.n);
  else
    stores<Store::ordinary>(s, 0, s.n);
}

inline std::string nontemporal_refuses(const Params& p) {
  if (p.op == Op::load) return "op=load stores nothing, so non-temporal stores cannot help; use the variant simd";
  return fl::nontemporal::refusal();
}

// The part of n elements that is `part` of `parts`, in whole lines so that no two threads share one.
inline fl::Index part_begin(fl::Index n, int part, int parts) {
  constexpr fl::Index line = 64 / sizeof(double);
  return part == parts ? n : (n / line * part / parts) * line;
}

}  // namespace stream
