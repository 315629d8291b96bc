// One thread, a point after the other.
#include "run.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(himeno::State& s, fl::Index) {
  for (fl::Index t = 0; t < s.params.sweeps; ++t, std::swap(s.p, s.next)) s.gosa = himeno::sweep(s, s.block.cells(), himeno::Plain{});
}

}  // namespace

FL_VARIANT(himeno, step)
