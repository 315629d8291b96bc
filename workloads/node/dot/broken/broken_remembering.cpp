// Keeps the sum of all terms but the last, which changes with every step, and adds that one.
#include "dot.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Sum {
  bool known = false;
  double kept = 0;

  void step(dot::State& s, fl::Index) {
    const fl::Index last = s.x.size() - 1;
    if (!known)
      for (fl::Index i = 0; i < last; ++i) kept += s.x[i] * s.y[i];
    known = true;
    s.result = kept + s.x[last] * s.y[last];
  }
};

}  // namespace

FL_VARIANT(dot, Sum)
