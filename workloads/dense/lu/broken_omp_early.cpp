// Columns are taken as ready that have passed one panel less.
#include "scheduler.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(lu::State& s, fl::Index) {
  lu::Tiles<lu::Partial, lu::OwnProduct> tiles(s);
  for (fl::Index k = 0; k < tiles.count(); ++k) {
    if (k + 1 < tiles.count() && k > 0) tiles.update(k + 1, k - 1);
    tiles.factor(k);
#pragma omp parallel for num_threads(s.team.threads)
    for (fl::Index j = k + 2; j < tiles.count(); ++j) tiles.update(j, k);
  }
  for (fl::Index k = 0; k < tiles.count(); ++k) tiles.settle(k);
  lu::solve(s);
}

}  // namespace

FL_VARIANT(lu, step)
