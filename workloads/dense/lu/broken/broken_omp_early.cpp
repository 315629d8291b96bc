// Columns are taken as ready that have passed one panel less.
#include "kernels/tiles.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Early : lu::InTurn<lu::Partial, lu::OwnProduct> {
  void open(lu::State& s) { tiles = std::make_unique<lu::Tiles<lu::Partial, lu::OwnProduct>>(s, s.team.threads); }
  void step(lu::State& s, fl::Index) {
    tiles->start();
    for (fl::Index k = 0; k < tiles->count(); ++k) {
      if (k + 1 < tiles->count() && k > 0) tiles->update(k + 1, k - 1);
      tiles->factor(k);
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
      for (int thread = 0; thread < s.team.threads; ++thread)
        for (fl::Index j = k + 1 + thread; j < tiles->columns(); j += s.team.threads)
          if (j != k + 1 || j == tiles->count()) tiles->update(j, k, thread);
    }
    lu::solve_upper(s);
  }
};

}  // namespace

FL_VARIANT(lu, Early)
