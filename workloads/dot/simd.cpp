// Explicit portable SIMD with compiler vector extensions: eight vectors of partial sums hide the latency of the multiply-add.
#include "dot.hpp"

#include "firstlight/simd.hpp"
#include "firstlight/variant.hpp"

namespace {

using Vector = fl::simd::native<double>;

void step(dot::State& s, fl::Index) {
  constexpr int width = fl::simd::width<double>;
  constexpr int chains = 8;
  constexpr int block = width * chains;
  const double* x = s.x.data();
  const double* y = s.y.data();
  const fl::Index n = s.x.size();
  Vector sum[chains] = {};
  fl::Index i = 0;
  for (; i + block <= n; i += block)
    for (int k = 0; k < chains; ++k) sum[k] += fl::simd::load<Vector>(x + i + k * width) * fl::simd::load<Vector>(y + i + k * width);
  for (; i + width <= n; i += width) sum[0] += fl::simd::load<Vector>(x + i) * fl::simd::load<Vector>(y + i);
  double total = 0;
  for (; i < n; ++i) total += x[i] * y[i];
  for (int half = chains / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) sum[k] += sum[k + half];
  for (int lane = 0; lane < width; ++lane) total += sum[0][lane];
  s.result = total;
}

}  // namespace

FL_VARIANT(dot, step)
