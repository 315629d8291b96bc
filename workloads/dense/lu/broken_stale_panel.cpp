// The last column has not seen the last panel but one.
#include "tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(lu::State& s, fl::Index) {
  lu::Tiles<lu::Partial, lu::OwnProduct> tiles(s);
  for (fl::Index k = 0; k < tiles.count(); ++k) {
    tiles.factor(k);
    for (fl::Index j = k + 1; j < tiles.count(); ++j)
      if (j + 1 != tiles.count() || k + 2 != tiles.count()) tiles.update(j, k);
  }
  for (fl::Index k = 0; k < tiles.count(); ++k) tiles.settle(k);
  lu::solve(s);
}

}  // namespace

FL_VARIANT(lu, step)
