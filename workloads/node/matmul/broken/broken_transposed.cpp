// Uses rows of B instead of its columns: A times the transpose of B.
#include "matmul.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(matmul::State& s, fl::Index) {
  matmul::in_precision(s, [n = s.n](auto& m, auto factor) {
    for (fl::Index i = 0; i < n; ++i)
      for (fl::Index j = 0; j < n; ++j) {
        decltype(factor) sum = 0;
        for (fl::Index k = 0; k < n; ++k) sum += m.a[i * n + k] * m.b[j * n + k];
        m.c[i * n + j] = factor * sum;
      }
  });
}

}  // namespace

FL_VARIANT(matmul, step)
