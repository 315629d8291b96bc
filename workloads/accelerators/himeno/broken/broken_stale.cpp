// One sweep short: GOSA and p are those of the sweep before the last.
#include "kernels/run.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(himeno::State& s, fl::Index) {
  s.gosa = 0;
  for (fl::Index t = 1; t < s.params.sweeps; ++t, std::swap(s.p, s.next)) s.gosa = himeno::sweep(s, s.block.cells(), himeno::Plain{});
}

}  // namespace

FL_VARIANT(himeno, step)
