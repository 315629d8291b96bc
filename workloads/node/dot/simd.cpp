// Explicit portable SIMD with compiler vector extensions: vectors of partial sums hide the latency of the multiply-add.
#include "dot.hpp"

#include "firstlight/simd.hpp"
#include "firstlight/variant.hpp"

namespace {

using Vector = fl::simd::native<double>;

// Each multiply-add takes two loads. With the widest vectors cores load two a cycle, so four chains cover a latency of four
// cycles, and more of them only lengthen the reduction; narrower vectors are loaded three or four a cycle.
constexpr int chains = fl::simd::bytes == 64 ? 4 : 8;

void step(dot::State& s, fl::Index) {
  constexpr int width = fl::simd::width<double>;
  constexpr int block = width * chains;
  const double* x = s.x.data();
  const double* y = s.y.data();
  const fl::Index n = s.x.size();
  Vector sum[chains] = {};
  fl::Index i = 0;
  for (; i + block < n; i += block)
    fl::simd::unroll<chains>([&](auto k) __attribute__((always_inline)) {
      sum[k] += fl::simd::load<Vector>(x + i + k * width) * fl::simd::load<Vector>(y + i + k * width);
    });
  for (; i + width < n; i += width) sum[0] += fl::simd::load<Vector>(x + i) * fl::simd::load<Vector>(y + i);
  double rest = 0;
  fl::simd::rest<width>(i, n, [&](fl::Index j) { rest += x[j] * y[j]; });
  s.result = fl::simd::reduce<double>(sum) + rest;
}

}  // namespace

FL_VARIANT(dot, step)
