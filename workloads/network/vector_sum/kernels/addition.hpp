// The local half of a global sum: to[i] = a[i] + b[i], with vectors as wide as the flags under test allow.
#pragma once

#include "firstlight/simd.hpp"
#include "vector_sum.hpp"

namespace vector_sum {

// `to` may be `a` or `b` itself.
inline void add(double* to, const double* a, const double* b, fl::Index n) {
  using Vector = fl::simd::native<double>;
  constexpr int width = fl::simd::width<double>, unrolled = 4, block = unrolled * width;
  fl::Index i = 0;
  for (; i + block < n; i += block)
    fl::simd::unroll<unrolled>([&](auto k) {
      const fl::Index at = i + k * width;
      fl::simd::store(to + at, fl::simd::load<Vector>(a + at) + fl::simd::load<Vector>(b + at));
    });
  fl::simd::rest<block>(i, n, [&](fl::Index j) { to[j] = a[j] + b[j]; });
}

}  // namespace vector_sum
