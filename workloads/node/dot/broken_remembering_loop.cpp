// As broken_remembering, and adds all terms anew for each batch: what a compiler may do with a loop in which but one element changes.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

void loop(dot::State& s, fl::Index first, fl::Index count) {
  const fl::Index last = s.x.size() - 1;
  double kept = 0;
  for (fl::Index i = first; i < first + count; ++i) {
    touch(s, i);
    if (i == first)
      for (fl::Index k = 0; k < last; ++k) kept += s.x[k] * s.y[k];
    s.result = kept + s.x[last] * s.y[last];
  }
}

}  // namespace

FL_VARIANT(dot, loop)
