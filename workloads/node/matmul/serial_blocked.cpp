// Blocks that fit into a cache: of B 64 rows by 256 columns, which all rows of A pass.
#include "kernels/rows.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(matmul::State& s, fl::Index) {
  constexpr fl::Index deep = 64, wide = 256;
  matmul::from_zero(s, [](const auto& o) {
    for (fl::Index j = 0; j < o.n; j += wide)
      for (fl::Index k = 0; k < o.n; k += deep) matmul::add_box(o, {0, o.n}, {k, std::min(k + deep, o.n)}, {j, std::min(j + wide, o.n)});
  });
}

}  // namespace

FL_VARIANT(matmul, step)
