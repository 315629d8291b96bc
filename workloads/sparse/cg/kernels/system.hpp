// What a process keeps of A for its iterations: its rows, and the preconditioner's blocks.
#pragma once

#include <algorithm>
#include <vector>

#include "cg.hpp"

namespace cg {

// y[i] = sum of v x[column], for rows `some`.
struct Rows {
  fl::Array<int> start, column;  // start: of row i, and the end of the last
  fl::Array<double> value;

  Rows() = default;
  // Entries of rows `own` that `takes(row, column)`; `local`: where in a vector an element of the whole one is.
  template <class Takes, class Local>
  Rows(const sparse::Matrix& a, fl::Part own, Takes takes, Local local) : start(own.size() + 1) {
    fl::Index count = 0;
    for (fl::Index i = own.begin; i < own.end; ++i) {
      start[i - own.begin] = static_cast<int>(count);
      a.row(i, [&](fl::Index c, double) { count += takes(i, c) ? 1 : 0; });
    }
    start[own.size()] = static_cast<int>(count);
    column = fl::Array<int>(count);
    value = fl::Array<double>(count);
    fl::poison(value.data(), count);  // what no row has set must not pass for zeros of fresh memory
    fl::Index k = 0;
    for (fl::Index i = own.begin; i < own.end; ++i)
      a.row(i, [&](fl::Index c, double v) {
        if (!takes(i, c)) return;
        column[k] = static_cast<int>(local(c));
        value[k++] = v;
      });
  }

  double times(const double* x, fl::Index i) const {
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * x[column[k]];
    return sum;
  }
  void multiply(const double* x, double* y, fl::Part some) const {
    const int *first = start.data(), *c = column.data();
    const double* v = value.data();
    for (fl::Index i = some.begin; i < some.end; ++i) {
      double sum = 0;
      for (int k = first[i]; k < first[i + 1]; ++k) sum += v[k] * x[c[k]];
      y[i] = sum;
    }
  }
};

// z = M^-1 r. Jacobi: M is the diagonal D. Symmetric sweeps (SSOR with omega = 1): M = (D + L) D^-1 (D + U) of each block of rows.
struct Sweeps {
  bool whole = false;  // sweeps, not the diagonal alone
  fl::Array<double> diagonal, inverse;
  Rows below, above;  // within a block

  // `parties` blocks, one a thread of this process.
  Sweeps(const State& s, int parties) : whole(s.p.preconditioner == Preconditioner::ssor), diagonal(s.own.size()), inverse(s.own.size()) {
    const fl::Part own = s.own;
    for (fl::Index i = own.begin; i < own.end; ++i) {
      double d = 0;
      s.matrix.row(i, [&](fl::Index c, double v) { d += c == i ? v : 0; });
      diagonal[i - own.begin] = d;
      inverse[i - own.begin] = 1 / d;
    }
    if (!whole) return;
    const auto together = [&](fl::Index i, fl::Index c) {
      return c >= own.begin && c < own.end &&
             fl::part_of(own.size(), parties, i - own.begin) == fl::part_of(own.size(), parties, c - own.begin);
    };
    const auto local = [&](fl::Index c) { return c - own.begin; };
    below = Rows(s.matrix, own, [&](fl::Index i, fl::Index c) { return c < i && together(i, c); }, local);
    above = Rows(s.matrix, own, [&](fl::Index i, fl::Index c) { return c > i && together(i, c); }, local);
  }

  void apply(const double* r, double* z, fl::Part block) const {
    if (!whole) {
      const double* d = inverse.data();
      FL_INDEPENDENT
      for (fl::Index i = block.begin; i < block.end; ++i) z[i] = d[i] * r[i];
      return;
    }
    for (fl::Index i = block.begin; i < block.end; ++i) z[i] = (r[i] - below.times(z, i)) * inverse[i];
    for (fl::Index i = block.end - 1; i >= block.begin; --i) z[i] -= above.times(z, i) * inverse[i];
  }
};

}  // namespace cg
