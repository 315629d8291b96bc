// The last column has not seen the last panel but one.
#include "kernels/tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Stale : lu::InTurn<lu::Partial, lu::OwnProduct> {
  void step(lu::State& s, fl::Index) {
    tiles->start();
    const fl::Index last = tiles->count() - 1;
    for (fl::Index k = 0; k <= last; ++k) {
      tiles->factor(k);
      for (fl::Index j = k + 1; j < tiles->columns(); ++j)
        if (j != last || k + 1 != last) tiles->update(j, k);
    }
    lu::solve_upper(s);
  }
};

}  // namespace

FL_VARIANT(lu, Stale)
