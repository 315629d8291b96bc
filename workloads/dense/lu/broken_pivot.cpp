// The pivot of every 16th column is not looked for.
#include "tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Missed {
  static void panel(lu::State& s, const lu::Columns& c) {
    for (fl::Index k = c.begin; k < c.end; ++k) {
      fl::Index best = k;
      for (fl::Index i = k + 1; i < s.n && k % 16 != 0; ++i)
        if (std::fabs(s.row(i)[k]) > std::fabs(s.row(best)[k])) best = i;
      s.pivot[k] = best;
      lu::exchange(s, k, c);
      lu::eliminate(s, k, c);
    }
  }
};

}  // namespace

FL_VARIANT(lu, (lu::in_turn<Missed, lu::OwnProduct>))
