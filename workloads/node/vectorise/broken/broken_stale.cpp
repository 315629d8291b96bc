// The scalar of the step before.
#include "kernels/kernels.hpp"

namespace {

void plain_scale(vectorise::State& s, fl::Index) {
  static double before = 1;
  for (fl::Index i = 0; i < s.n; ++i) s.x[i] = before * s.a[i];
  before = s.k;
}

constexpr fl::Kernel table[] = {FL_KERNEL(vectorise, plain_scale)};

}  // namespace

FL_KERNELS(vectorise, table)
