// C += factor A B over a box of i, k and j, rows of C from rows of B: what the variants that differ in the order of boxes share.
#pragma once

#include <algorithm>

#include "firstlight/split.hpp"
#include "matmul.hpp"

namespace matmul {

template <class T>
struct Operands {
  const T *a, *b;
  T* c;
  Index n;
  T factor;
};

template <class T>
inline void add_box(const Operands<T>& o, fl::Part rows, fl::Part sums, fl::Part columns) {
  for (Index i = rows.begin; i < rows.end; ++i)
    for (Index k = sums.begin; k < sums.end; ++k) {
      const T left = o.factor * o.a[i * o.n + k];
      const T* __restrict b = o.b + k * o.n;
      T* __restrict c = o.c + i * o.n;
      for (Index j = columns.begin; j < columns.end; ++j) c[j] += left * b[j];
    }
}

// run(operands) on a C that is zero.
template <class Run>
inline void from_zero(State& s, Run run) {
  in_precision(s, [&](auto& m, auto factor) {
    using T = decltype(factor);
    std::fill_n(m.c.data(), m.c.size(), T{});
    run(Operands<T>{m.a.data(), m.b.data(), m.c.data(), s.n, factor});
  });
}

}  // namespace matmul
