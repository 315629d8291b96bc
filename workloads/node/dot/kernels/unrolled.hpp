// The loop with `width` accumulators, in the way one writes it by hand for a compiler that may not reassociate.
#pragma once

#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace dot {

template <int width>
void unrolled(State& s, fl::Index) {
  const double* x = s.x.data();
  const double* y = s.y.data();
  const fl::Index n = s.x.size();
  double sum[width] = {};
  fl::Index i = 0;
  for (; i + width <= n; i += width)
    for (int k = 0; k < width; ++k) sum[k] += x[i + k] * y[i + k];
  double total = 0;
  for (; i < n; ++i) total += x[i] * y[i];
  for (int k = 0; k < width; ++k) total += sum[k];
  s.result = total;
}

}  // namespace dot
