// Multiplies by the factor of the step before: a result that is late by one.
#include "kernels/rows.hpp"

#include "firstlight/variant.hpp"

namespace {

double before = 1;

void step(matmul::State& s, fl::Index) {
  std::swap(before, s.factor);
  matmul::from_zero(s, [](const auto& o) { matmul::add_box(o, {0, o.n}, {0, o.n}, {0, o.n}); });
  std::swap(before, s.factor);
  before = s.factor;
}

}  // namespace

FL_VARIANT(matmul, step)
