// The three loops in their usual form, each element of C a sum: B is read by columns. Also the oracle of clarity.
#include "matmul.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(matmul::State& s, fl::Index) {
  matmul::in_precision(s, [n = s.n](auto& m, auto factor) {
    for (fl::Index i = 0; i < n; ++i)
      for (fl::Index j = 0; j < n; ++j) {
        decltype(factor) sum = 0;
        for (fl::Index k = 0; k < n; ++k) sum += m.a[i * n + k] * m.b[k * n + j];
        m.c[i * n + j] = factor * sum;
      }
  });
}

}  // namespace

FL_VARIANT(matmul, step)
