// Rows of L stay where they were when later panels exchanged theirs.
#include "tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(lu::State& s, fl::Index) {
  lu::Tiles<lu::Partial, lu::OwnProduct> tiles(s);
  for (fl::Index k = 0; k < tiles.count(); ++k) {
    tiles.factor(k);
    for (fl::Index j = k + 1; j < tiles.count(); ++j) tiles.update(j, k);
  }
  lu::solve(s);
}

}  // namespace

FL_VARIANT(lu, step)
