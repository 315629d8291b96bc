// Formats whose vectors hold neighbouring rows (ELL; SELL-C-sigma, Kreutzer et al. 2014): an entry of each of 8 rows side by side.
// Short rows are padded by 0 times a 0 behind the end of x.
#pragma once

#include <numeric>

#include "csr.hpp"
#include "firstlight/simd.hpp"

namespace spmv {

// Sums of `chunk` rows, entry k of row r at k * stride + r; each row's in its order.
template <class Store>
[[gnu::always_inline]] inline void sums(const double* value, const int* column, fl::Index stride, fl::Index count, const double* x,
                                        Store store) {
  using Vector = fl::simd::native<double>;
  constexpr int width = fl::simd::width<double>, vectors = static_cast<int>(chunk) / width;
  Vector sum[vectors] = {};
  for (fl::Index k = 0; k < count; ++k, value += stride, column += stride) {
    prefetch(0, value, column);
    fl::simd::unroll<vectors>([&](auto v) {
      Vector elements;
      fl::simd::unroll<width>([&](int lane) { elements[lane] = x[column[v * width + lane]]; });
      sum[v] += fl::simd::load<Vector>(value + v * width) * elements;
    });
  }
  for (int r = 0; r < chunk; ++r) store(r, sum[r / width][r % width]);
}

class Ell {
 public:
  explicit Ell(const Csr& a) : rows_(a.rows), stride_((units() | 1) * chunk) {
    for (fl::Index i = 0; i < rows_; ++i) longest_ = std::max(longest_, a.length(i));
    column_ = fl::Array<int>(stride_ * longest_);
    value_ = fl::Array<double>(stride_ * longest_);
    for (fl::Index k = 0; k < longest_; ++k)
      for (fl::Index i = 0; i < stride_; ++i) {
        const bool real = k < a.length(i);
        column_[k * stride_ + i] = real ? a.column[a.start[i] + k] : static_cast<int>(a.zero);
        value_[k * stride_ + i] = real ? a.value[a.start[i] + k] : 0;
      }
  }

  fl::Index units() const { return pieces(rows_, chunk); }
  fl::Index slots(fl::Index unit) const { return unit * longest_; }

  // Some rows at a time, entry after entry: as many streams as a row has entries would be too many for any prefetcher.
  void multiply(const double* x, double* y, double scale, fl::Part some) const {
    const fl::Index end = std::min(some.end * chunk, rows_);
    for (fl::Index first = some.begin * chunk; first < end; first += window) {
      double sum[window] = {};
      const fl::Index count = std::min(window, end - first);
      for (fl::Index k = 0; k < longest_; ++k) {
        const double* v = value_.data() + k * stride_ + first;
        const int* c = column_.data() + k * stride_ + first;
        for (fl::Index r = 0; r < count; ++r) sum[r] += v[r] * x[c[r]];
      }
      for (fl::Index r = 0; r < count; ++r) y[first + r] = scale * sum[r];
    }
  }

 private:
  fl::Index rows_, stride_, longest_ = 0;  // a stride of an odd number of lines: entries of a row do not meet in one cache set
  fl::Array<int> column_;
  fl::Array<double> value_;
};

class Sell {
 public:
  // Rows are sorted by length within `sigma` of them.
  explicit Sell(const Csr& a, fl::Index sigma = window) : rows_(a.rows), order_(rows_), start_(units() + 1) {
    std::iota(order_.begin(), order_.end(), 0);
    for (fl::Index i = 0; i < rows_; i += sigma)
      std::stable_sort(order_.begin() + i, order_.begin() + std::min(rows_, i + sigma),
                       [&](int p, int q) { return a.length(p) > a.length(q); });
    start_[0] = 0;
    for (fl::Index u = 0; u < units(); ++u) start_[u + 1] = start_[u] + static_cast<int>(longest(a, u));
    column_ = fl::Array<int>(start_[units()] * chunk);
    value_ = fl::Array<double>(start_[units()] * chunk);
    for (fl::Index u = 0; u < units(); ++u)
      for (fl::Index r = 0; r < chunk; ++r) {
        const fl::Index row = u * chunk + r < rows_ ? order_[u * chunk + r] : rows_;  // beyond the last: of no length
        for (fl::Index k = 0; k < start_[u + 1] - start_[u]; ++k) {
          const bool real = k < a.length(row);
          column_[(start_[u] + k) * chunk + r] = real ? a.column[a.start[row] + k] : static_cast<int>(a.zero);
          value_[(start_[u] + k) * chunk + r] = real ? a.value[a.start[row] + k] : 0;
        }
      }
  }

  fl::Array<int>& order() { return order_; }
  const fl::Array<int>& start() const { return start_; }
  const fl::Array<int>& column() const { return column_; }
  const fl::Array<double>& value() const { return value_; }
  fl::Index units() const { return pieces(rows_, chunk); }
  fl::Index slots(fl::Index unit) const { return start_[unit]; }

  void multiply(const double* x, double* y, double scale, fl::Part some) const {
    for (fl::Index u = some.begin; u < some.end; ++u) {
      const fl::Index first = fl::Index{start_[u]} * chunk;
      sums(value_.data() + first, column_.data() + first, chunk, start_[u + 1] - start_[u], x, [&](int r, double sum) {
        if (u * chunk + r < rows_) y[order_[u * chunk + r]] = scale * sum;
      });
    }
  }

 private:
  fl::Index longest(const Csr& a, fl::Index unit) const {
    fl::Index found = 0;
    for (fl::Index k = unit * chunk; k < std::min(rows_, (unit + 1) * chunk); ++k) found = std::max(found, a.length(order_[k]));
    return found;
  }

  fl::Index rows_;
  fl::Array<int> order_;  // which row is at a place
  fl::Array<int> start_;  // of a slice, in vectors of `chunk`
  fl::Array<int> column_;
  fl::Array<double> value_;
};

// All rows sorted: those of a slice are of one length even where few are, but rows of neighbours are no longer side by side.
struct SellSorted : Sell {
  explicit SellSorted(const Csr& a) : Sell(a, std::max<fl::Index>(a.rows, 1)) {}
};

}  // namespace spmv
