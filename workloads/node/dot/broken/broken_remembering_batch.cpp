// As broken_remembering, and adds all terms anew for each batch: what a compiler may do with a loop in which but one element changes.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Step {
  fl::Index before = -2;
  double kept = 0;

  void step(dot::State& s, fl::Index iteration) {
    const fl::Index last = s.x.size() - 1;
    if (iteration != before + 1) {  // iterations between batches are skipped
      kept = 0;
      for (fl::Index k = 0; k < last; ++k) kept += s.x[k] * s.y[k];
    }
    before = iteration;
    s.result = kept + s.x[last] * s.y[last];
  }
};

}  // namespace

FL_VARIANT(dot, Step)
