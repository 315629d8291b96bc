// Exchanges squares on both sides of the diagonal, each transposed in registers. Other elements are exchanged one by one.
#include <utility>

#include "kernels/squares.hpp"

#include "firstlight/variant.hpp"

namespace {

using fl::Index;

// Squares (i, j) and (j, i); on the diagonal they are one, and what the first of them gave is what stays.
template <Index side, class T>
[[gnu::always_inline]] inline void exchange(T* a, Index n, Index i, Index j) {
  T* const upper = a + i * n + j;
  T* const lower = a + j * n + i;
  alignas(64) T turned[side * side];
  transpose::square<side>(upper, n, turned, side, transpose::Ordinary());
  transpose::square<side>(lower, n, upper, n, transpose::Ordinary());
  for (Index k = 0; k < side; ++k) std::copy_n(turned + k * side, side, lower + k * n);
}

template <class T>
void turn(T* a, Index n) {
  constexpr Index side = transpose::line<T>, high = 4 * side;
  const Index squares = n / side * side;
  for (Index down = 0; down < squares; down += high) {
    const Index end = std::min(down + high, squares);
    for (Index j = down; j < squares; j += side)
      for (Index i = down; i < std::min(end, j + side); i += side) exchange<side>(a, n, i, j);
  }
  for (Index i = 0; i < n; ++i)
    for (Index j = std::max(i + 1, squares); j < n; ++j) std::swap(a[i * n + j], a[j * n + i]);
}

void step(transpose::State& s, Index) {
  transpose::in_precision(s, [n = s.n](auto& m) { turn(m.a.data(), n); });
}

}  // namespace

FL_VARIANT(transpose, step, .traits = {.in_place = true})
