// Exchanges every pair from both sides of the diagonal: twice, so nothing has changed.
#include <utility>

#include "transpose.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(transpose::State& s, fl::Index) {
  transpose::in_precision(s, [n = s.n](auto& m) {
    for (fl::Index i = 0; i < n; ++i)
      for (fl::Index j = 0; j < n; ++j) std::swap(m.a[i * n + j], m.a[j * n + i]);
  });
}

}  // namespace

FL_VARIANT(transpose, step, .traits = {.in_place = true})
