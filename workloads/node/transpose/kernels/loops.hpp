// b = a^T over a box by plain loops: what the variants that differ in the order of boxes share, and the rest outside of squares.
#pragma once

#include <algorithm>

#include "firstlight/split.hpp"
#include "transpose.hpp"

namespace transpose {

// Rows of A that are rows long, from a; their columns become rows of B, from b.
template <class T>
struct Box {
  const T* a;
  Index a_row;  // elements from one row to the next
  T* b;
  Index b_row;
  Index rows, columns;  // of A

  Box part(Index i, Index j, Index high, Index wide) const { return {a + i * a_row + j, a_row, b + j * b_row + i, b_row, high, wide}; }
};

template <class T>
inline void by_loops(const Box<T>& box) {
  for (Index i = 0; i < box.rows; ++i)
    for (Index j = 0; j < box.columns; ++j) box.b[j * box.b_row + i] = box.a[i * box.a_row + j];
}

// run(box) of the whole matrix.
template <class Run>
[[gnu::always_inline]] inline void whole(State& s, Run run) {
  in_precision(s, [&](auto& m) {
    using T = std::remove_reference_t<decltype(m.a[0])>;
    run(Box<T>{m.a.data(), s.n, m.b.data(), s.n, s.n, s.n});
  });
}

}  // namespace transpose
