// A sum of products with the rounding errors of its terms (Ogita, Rump and Oishi 2005): what a row of A x is.
#pragma once

#include <cmath>

#include "firstlight/workload.hpp"

namespace sparse {

struct RowSum {
  double sum = 0, lost = 0, magnitude = 0;  // of the terms' magnitudes
  fl::Index terms = 0;

  void add(double value, double x) {
    const double product = value * x, next = sum + product, before = next - sum;
    lost += std::fma(value, x, -product) + ((sum - (next - before)) + (product - before));
    sum = next;
    magnitude += std::fabs(product);
    ++terms;
  }
  double value() const { return sum + lost; }
};

}  // namespace sparse
