// C -= A B, and triangular systems by it. Rows of A stand as a panel's do.
#pragma once

#include "firstlight/packed.hpp"
#include "lu.hpp"

namespace lu::inline FL_ROLE {

// From a row of a panel to the next: they begin in different sets of a cache.
inline constexpr Index panel_stride = widest + 8;

// The packed product: all of B, then blocks of rows of A as they stand.
class OwnProduct {
 public:
  void operator()(const double* a, const double* b, Index ldb, double* c, Index ldc, Index rows, Index deep, Index width) {
    const Index panels = (width + Kernel::panel - 1) / Kernel::panel;
    if (packed_.size() < panels * Kernel::panel * deep) packed_ = fl::Array<double>(panels * Kernel::panel * deep);
    for (Index p = 0; p < width; p += Kernel::panel)
      Kernel::pack(b + p, ldb, std::min(Kernel::panel, width - p), deep, packed_.data() + p * deep);
    for (Index i = 0; i < rows; i += fl::packed::block_rows)
      for (Index p = 0; p < width; p += Kernel::panel) {
        const double* after = packed_.data() + (p + Kernel::panel < width ? p + Kernel::panel : 0) * deep;
        Kernel::multiply({a + i * panel_stride, packed_.data() + p * deep, after, deep, -1, true, c + i * ldc + p, ldc},
                         std::min(fl::packed::block_rows, rows - i), std::min(Kernel::panel, width - p));
      }
  }

 private:
  using Kernel = fl::packed::Kernel<double, panel_stride>;
  fl::Array<double> packed_;
};

// B = L^-1 B for the lower triangle of a panel's first n rows, whose diagonal is 1.
template <class Product>
void solve_lower(const double* l, double* b, Index ldb, Index n, Index width, Product& product) {
  if (n > 16) {
    const Index half = (n / 2 + 7) / 8 * 8;
    solve_lower(l, b, ldb, half, width, product);
    product(l + half * panel_stride, b, ldb, b + half * ldb, ldb, n - half, half, width);
    return solve_lower(l + half * panel_stride + half, b + half * ldb, ldb, n - half, width, product);
  }
  for (Index r = 1; r < n; ++r)
    for (Index q = 0; q < r; ++q) {
      const double factor = l[r * panel_stride + q];
      const double* from = b + q * ldb;
      double* to = b + r * ldb;
      FL_INDEPENDENT
      for (Index j = 0; j < width; ++j) to[j] -= factor * from[j];
    }
}

}  // namespace lu::inline FL_ROLE
