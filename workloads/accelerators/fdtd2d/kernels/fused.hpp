// E and H of a time step in one sweep: memory is passed once, 8 numbers a cell where two sweeps move 11. E of a cell reads H of a moment
// before, of this row and of the row and the column before; so hx may follow as soon as E of the next column is new, and hy of the row before as
// soon as this row's is. Each number is computed from the same numbers as in two sweeps: the fields are the same, bit for bit.
#pragma once

#include "lanes.hpp"
#include "own_neighbour.hpp"

namespace fdtd2d {

// Columns of a row. `from` is a multiple of the vector, and so is `to` unless the row ends there.
struct Span {
  Index from = 0, to = 0;
  bool with_last = true;  // where the row ends, hx of its last column, too: nothing is beyond, so it waits for no halo
};

// Where hx ends: one vector less than E, or at the end of the row.
template <class T>
Index end_of_hx(const Job<T>& job, const Span& span) {
  return span.to < job.columns ? span.to - fl::simd::width<T> : span.with_last ? span.to : span.to - 1;
}

// E of row i, hx of row i from a vector before, hy of row i - 1, in one loop. What one vector needs of its neighbours stays in registers,
// for a load that overlaps two stores waits for both.
template <class T>
void fused_loop(const Job<T>& job, Index i, const Span& span) {
  using V = fl::simd::native<T>;
  constexpr Index width = fl::simd::width<T>;
  T *e = &job.ez(i, 0), *x = &job.hx(i, 0), *above = &job.hy(i - 1, 0);
  const T *ca = &job.ca(i, 0), *cb = &job.cb(i, 0), *y = &job.hy(i, 0), *e_above = &job.ez(i - 1, 0);
  const T s = job.s;
  const auto at = [](const T* from) __attribute__((always_inline)) { return fl::simd::load<V>(from); };
  V last_e{}, last_x{};
  const auto one = [&](Index j, bool hx) __attribute__((always_inline)) {
    const V x_now = at(x + j), above_now = at(above + j);
    const V e_new = updated_ez<V>(at(e + j), at(ca + j), at(cb + j), at(y + j), above_now, x_now, one_back<T>(last_x, x_now));
    fl::simd::store(e + j, e_new);
    fl::simd::store(above + j, updated_hy<V>(above_now, s, at(e_above + j), e_new));
    if (hx) fl::simd::store(x + j - width, updated_hx<V>(last_x, s, last_e, one_on<T>(last_e, e_new)));
    last_e = e_new, last_x = x_now;
  };
  Index j = span.from;
  if (j > 0) {
    last_e = at(e + j - width), last_x = at(x + j - width);
  } else if (width <= span.to) {
    last_x[width - 1] = x[-1];
    one(0, false);
    j = width;
  }
  for (; j + width <= span.to; j += width) one(j, true);
  if (span.to < job.columns) return;
  for (Index k = j; k < span.to; ++k) {
    e[k] = updated_ez<T>(e[k], ca[k], cb[k], y[k], above[k], x[k], x[k - 1]);
    above[k] = updated_hy<T>(above[k], s, e_above[k], e[k]);
  }
  for (Index k = std::max<Index>(j - width, 0), end = end_of_hx(job, span); k < end; ++k) x[k] = updated_hx<T>(x[k], s, e[k], e[k + 1]);
}

// The same for any row: where layers absorb or the source is, in loops of their own. Above row `first` another one works on hy; after the
// last row of the block what is left is hy of that one.
template <class T>
void advance_row(const Job<T>& job, Index first, Index i, const Span& span, Index t) {
  if (i == job.rows) return lanes_hy(job, i - 1, span.from, span.to);
  const bool plain = i > first && i != job.source_i && job.first_j == 0 && job.last_j == job.columns;
  if (plain && !job.absorbs_i(i) && !job.absorbs_i(i - 1)) return fused_loop(job, i, span);
  lanes_e(job, i, span.from, span.to, t);
  lanes_hx(job, i, std::max<Index>(span.from - fl::simd::width<T>, 0), end_of_hx(job, span));
  if (i > first) lanes_hy(job, i - 1, span.from, span.to);
}

// What is open after rows first to end: hy of the last one, and of all of them hx of the last column where that waited for a halo.
template <class T>
void finish_rows(const Job<T>& job, Index first, Index end, bool with_last) {
  if (first >= end) return;
  lanes_hy(job, end - 1, 0, job.columns);
  for (Index i = first; i < end && !with_last; ++i) lanes_hx(job, i, job.columns - 1, job.columns);
}

}  // namespace fdtd2d
