// Half storage: the diagonal, and of each row what is behind it. An entry is read once and multiplied twice.
// Rows without a diagonal entry are listed: a stored 0 for it would turn a NaN or an infinity of x into a NaN of y.
#pragma once

#include <algorithm>
#include <vector>

#include "csr.hpp"

namespace spmv {

class Symmetric {
 public:
  explicit Symmetric(const Csr& a) : rows_(a.rows), start_(rows_ + 1), diagonal_(rows_) {
    start_[0] = 0;
    const auto each = [&](fl::Index i, auto visit) {
      for (fl::Index k = a.start[i]; k < a.start[i + 1]; ++k) visit(a.column[k], a.value[k]);
    };
    for (fl::Index i = 0; i < rows_; ++i) {
      start_[i + 1] = start_[i];
      each(i, [&](int c, double) { start_[i + 1] += c > i ? 1 : 0; });
    }
    column_ = fl::Array<int>(start_[rows_]);
    value_ = fl::Array<double>(start_[rows_]);
    fl::Index next = 0;
    for (fl::Index i = 0; i < rows_; ++i) {
      bool stored = false;
      each(i, [&](int c, double v) {
        if (c == i) diagonal_[i] = v, stored = true;
        if (c > i) column_[next] = c, value_[next++] = v;
      });
      if (!stored) diagonal_[i] = 0, no_diagonal_.push_back(static_cast<int>(i));
    }
    no_diagonal_.push_back(static_cast<int>(rows_));
  }

  fl::Index units() const { return rows_; }
  fl::Index slots(fl::Index unit) const { return start_[unit]; }

  // Rows of a part. What they add to rows behind it goes to `beyond`, row `some.end` first, which is 0 at the beginning.
  void add(const double* x, double* y, double scale, fl::Part some, double* beyond) const {
    std::fill(y + some.begin, y + some.end, 0.);
    const int *first = start_.data(), *c = column_.data();
    const double* v = value_.data();
    auto no_diagonal = std::lower_bound(no_diagonal_.begin(), no_diagonal_.end(), some.begin);
    for (fl::Index i = some.begin; i < some.end; ++i) {
      const double mine = scale * x[i];
      double sum = 0;
      if (i == *no_diagonal)
        ++no_diagonal;
      else
        sum = diagonal_[i] * x[i];
      int k = first[i];
      for (int next = k; next < first[i + 1]; next += 8) prefetch(next, v, c);
      for (; k < first[i + 1] && c[k] < some.end; ++k) {
        sum += v[k] * x[c[k]];
        y[c[k]] += v[k] * mine;
      }
      for (; k < first[i + 1]; ++k) {
        sum += v[k] * x[c[k]];
        beyond[c[k] - some.end] += v[k] * mine;
      }
      y[i] += scale * sum;
    }
  }
  // Behind the last row that the rows of a part add to.
  fl::Index reach(fl::Part some) const {
    fl::Index end = some.end;
    for (fl::Index i = some.begin; i < some.end; ++i)
      if (start_[i] < start_[i + 1]) end = std::max<fl::Index>(end, column_[start_[i + 1] - 1] + 1);
    return end;
  }

  void multiply(const double* x, double* y, double scale, fl::Part all) const { add(x, y, scale, all, nullptr); }

 private:
  fl::Index rows_;
  fl::Array<int> start_, column_;
  fl::Array<double> diagonal_, value_;
  std::vector<int> no_diagonal_;  // rows in order, then the number of rows
};

}  // namespace spmv
