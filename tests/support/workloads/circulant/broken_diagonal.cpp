// Leaves the neighbours out.
#include "circulant.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(circulant::State& s, fl::Index) {
  for (fl::Index i = 0; i < s.x.size(); ++i) s.y[i] = s.b[i] / circulant::column(s.x.size(), 0);
}

}  // namespace

FL_VARIANT(circulant, step)
