// Rows stay where they are: no tournament.
#include "tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct None {
  static void panel(lu::State& s, const lu::Columns& c) {
    for (fl::Index k = c.begin; k < c.end; ++k) {
      s.pivot[k] = k;
      lu::eliminate(s, k, c);
    }
  }
};

}  // namespace

FL_VARIANT(lu, (lu::in_turn<None, lu::OwnProduct>), .traits = {.tournament = true})
