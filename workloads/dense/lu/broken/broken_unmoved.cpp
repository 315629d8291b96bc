// Rows of the last tile column's first exchange stay where they are.
#include "kernels/tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Unmoved : lu::InTurn<lu::Partial, lu::OwnProduct> {
  void step(lu::State& s, fl::Index) {
    tiles->start();
    const fl::Index last = tiles->count() - 1;
    for (fl::Index k = 0; k <= last; ++k) {
      tiles->factor(k);
      for (fl::Index j = k + 1; j < tiles->columns(); ++j) {
        if (k == 0 && j == last) lu::exchange(s, 0, {last * s.p.block, s.n});  // back again
        tiles->update(j, k);
      }
    }
    lu::solve_upper(s);
  }
};

}  // namespace

FL_VARIANT(lu, Unmoved)
