// Rows of L stay where they were when later panels exchanged theirs.
#include "tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Unsettled : lu::InTurn<lu::Partial, lu::OwnProduct> {
  void step(lu::State& s, fl::Index) {
    tiles->start();
    for (fl::Index k = 0; k < tiles->count(); ++k) {
      tiles->factor(k);
      for (fl::Index j = k + 1; j < tiles->columns(); ++j) tiles->update(j, k);
    }
    lu::solve_upper(s);
  }
};

}  // namespace

FL_VARIANT(lu, Unsettled)
