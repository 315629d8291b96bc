// Explicit portable SIMD with compiler vector extensions: vectors of partial sums hide the latency of the multiply-add.
#include "dot.hpp"

#include "firstlight/simd.hpp"
#include "firstlight/variant.hpp"

namespace {

using Vector = fl::simd::native<double>;

// Each multiply-add needs two loads. With the widest vectors cores load two a cycle, so four chains cover a latency of four
// cycles, and more of them only lengthen the reduction; narrower vectors are loaded three or four a cycle.
constexpr int chains = fl::simd::bytes == 64 ? 4 : 8;

constexpr int line = 64;  // bytes

// Beyond the caches the next page is prefetched a page ahead: hardware prefetchers stop at the end of each.
constexpr fl::Index long_vector = fl::Index{1} << 20, ahead = 4096 / static_cast<fl::Index>(sizeof(double));

template <bool from_memory>
double product(const double* x, const double* y, fl::Index n) {
  constexpr int width = fl::simd::width<double>;
  constexpr int block = width * chains;
  Vector sum[chains] = {};
  fl::Index i = 0;
  for (; i + block < n; i += block)
    fl::simd::unroll<chains>([&](auto k) __attribute__((always_inline)) {
      if constexpr (from_memory && k * fl::simd::bytes % line == 0) {
        __builtin_prefetch(x + i + k * width + ahead);
        __builtin_prefetch(y + i + k * width + ahead);
      }
      sum[k] += fl::simd::load<Vector>(x + i + k * width) * fl::simd::load<Vector>(y + i + k * width);
    });
  for (; i + width < n; i += width) sum[0] += fl::simd::load<Vector>(x + i) * fl::simd::load<Vector>(y + i);
  double rest = 0;
  fl::simd::rest<width>(i, n, [&](fl::Index j) { rest += x[j] * y[j]; });
  return fl::simd::reduce<double>(sum) + rest;
}

void step(dot::State& s, fl::Index) {
  const double *x = s.x.data(), *y = s.y.data();
  const fl::Index n = s.x.size();
  s.result = n < long_vector ? product<false>(x, y, n) : product<true>(x, y, n);
}

}  // namespace

FL_VARIANT(dot, step)
