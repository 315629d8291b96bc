// Compressed rows: what the other formats are made of.
#pragma once

#include <algorithm>

#include "firstlight/simd.hpp"
#include "spmv.hpp"

namespace spmv {

// Lines of values and columns that come so many entries later are prefetched meanwhile: what prefetchers keep under way for one core, two
// streams above all, is less than memory latency.
inline constexpr fl::Index ahead = 512;

template <class... Streams>
[[gnu::always_inline]] inline void prefetch(fl::Index k, const Streams*... streams) {
  (__builtin_prefetch(streams + k + ahead, 0, 3), ...);
}

// A format has rows in units that threads may share; multiply() takes some of them, slots(u) counts what is stored before unit u.
struct Csr {
  fl::Index rows = 0;
  fl::Index threads = 1;  // that divide them
  fl::Index zero = rows;  // from here on x is 0
  fl::Array<int> start;   // of row i, and the end of the last
  fl::Array<int> column;
  fl::Array<double> value;

  // `local`: where in s.x an element of the whole x is.
  template <class Local>
  Csr(const State& s, Local local) : rows(s.own.size()), threads(s.team.threads), start(rows + 1) {
    start[0] = 0;
    for (fl::Index i = 0; i < rows; ++i) start[i + 1] = start[i] + static_cast<int>(s.matrix.length(s.own.begin + i));
    column = fl::Array<int>(start[rows]);
    value = fl::Array<double>(start[rows]);
    fl::Index k = 0;
    for (fl::Index i = s.own.begin; i < s.own.end; ++i)
      s.matrix.row(i, [&](fl::Index c, double v) {
        column[k] = static_cast<int>(local(c));
        value[k++] = v;
      });
  }
  explicit Csr(const State& s) : Csr(s, [](fl::Index c) { return c; }) {}

  fl::Index length(fl::Index i) const { return i < rows ? start[i + 1] - start[i] : 0; }
  fl::Index units() const { return rows; }
  fl::Index slots(fl::Index unit) const { return start[unit]; }

  void multiply(const double* x, double* y, double scale, fl::Part some) const {
    const int *first = start.data(), *c = column.data();
    const double* v = value.data();
    for (fl::Index i = some.begin; i < some.end; ++i) {
      double sum = 0;
      for (int k = first[i]; k < first[i + 1]; k += 8) prefetch(k, v, c);
      for (int k = first[i]; k < first[i + 1]; ++k) sum += v[k] * x[c[k]];
      y[i] = scale * sum;
    }
  }
};

// The same arrays, four rows at a time as far as the shortest of them: what unrolling alone gains.
struct Csr4 {
  Csr a;
  explicit Csr4(Csr&& from) : a(std::move(from)) {}

  fl::Index units() const { return pieces(a.rows, group); }
  fl::Index slots(fl::Index unit) const { return a.start[std::min(unit * group, a.rows)]; }

  void multiply(const double* x, double* y, double scale, fl::Part some) const {
    const int *first = a.start.data(), *c = a.column.data();
    const double* v = a.value.data();
    const fl::Index end = std::min(some.end * group, a.rows), whole = end / group * group;
    for (fl::Index i = some.begin * group; i < whole; i += group) {
      int k[group];
      double sum[group] = {};
      for (int r = 0; r < group; ++r) k[r] = first[i + r];
      int common = first[i + 1] - k[0];
      for (int r = 1; r < group; ++r) common = std::min(common, first[i + r + 1] - k[r]);
      for (; common > 0; --common)
        for (int r = 0; r < group; ++r) {
          sum[r] += v[k[r]] * x[c[k[r]]];
          ++k[r];
        }
      for (int r = 0; r < group; ++r) {
        for (; k[r] < first[i + r + 1]; ++k[r]) sum[r] += v[k[r]] * x[c[k[r]]];
        y[i + r] = scale * sum[r];
      }
    }
    a.multiply(x, y, scale, {std::max(whole, some.begin * group), end});
  }
};

}  // namespace spmv
