// Two loops in their usual form: A is read by rows, B written by columns. Also the oracle of clarity.
#include "transpose.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State& s, fl::Index) {
  transpose::in_precision(s, [n = s.n](auto& m) {
    for (fl::Index i = 0; i < n; ++i)
      for (fl::Index j = 0; j < n; ++j) m.b[j * n + i] = m.a[i * n + j];
  });
}

}  // namespace

FL_VARIANT(transpose, step)
