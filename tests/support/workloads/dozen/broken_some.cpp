// Wrong on purpose: three of four.
#include "firstlight/variant.hpp"
#include "loops.hpp"

namespace {

using dozen::State, dozen::add;

void copy(State& s, fl::Index) {
  for (fl::Index i = 0; i + 1 < s.n; ++i) s.y[i] = s.a[i];
}
void dot(State& s, fl::Index) {
  double sum = 0;
  for (fl::Index i = 1; i < s.n; ++i) sum += s.a[i] * s.b[i];
  s.y[0] = sum + s.a[0];
}
void prefix(State& s, fl::Index) {
  for (fl::Index i = 0; i < s.n; ++i) s.y[i] = s.a[i];
}

constexpr fl::Kernel table[] = {FL_KERNEL(dozen, copy), FL_KERNEL(dozen, add), FL_KERNEL(dozen, dot), FL_KERNEL(dozen, prefix)};

}  // namespace

FL_KERNELS(dozen, table)
