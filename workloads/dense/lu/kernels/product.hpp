// Elimination by blocks: a triangular system, and C -= A B. Rows of A stand as a panel's do.
#pragma once

#include "firstlight/packed.hpp"
#include "lu.hpp"

namespace lu {

// From a row of a panel to the next: they begin in different sets of a cache.
inline constexpr Index panel_stride = widest + 8;

// What rows of a panel do to `width` columns behind it: B, beside its triangle L (a lower one, with ones on its diagonal), becomes L^-1 B, and A B
// is taken from C.
struct Elimination {
  const double* l;
  double* b;
  Index ldb, deep, width;
  const double* a;
  double* c;
  Index ldc, rows;  // of A and of C
};

// The packed product: all of B, then rows of A as they stand.
class OwnProduct {
 public:
  void operator()(const Elimination& e) {
    const Index room = (e.width + Kernel::panel - 1) / Kernel::panel * Kernel::panel * e.deep + Kernel::panel * fl::packed::tile_rows;
    if (packed_.size() < room) packed_ = fl::Array<double>(room);
    for (Index p = 0; p < e.width; p += Kernel::panel) {
      const Index columns = std::min(Kernel::panel, e.width - p);
      double* packed = packed_.data() + p * e.deep;
      Kernel::pack(e.b + p, e.ldb, columns, e.deep, packed);
      Kernel::solve(e.l, packed, e.deep, columns);
      Kernel::unpack(packed, columns, e.deep, e.b + p, e.ldb);
    }
    Kernel::multiply({e.a, packed_.data(), e.deep, -1, true, e.c, e.ldc}, e.rows, e.width);
  }

 private:
  using Kernel = fl::packed::Kernel<double, panel_stride>;
  fl::Array<double> packed_;
};

}  // namespace lu
