// Streamed formats (Guo and Gropp 2010): the rows of a group, or its rows of blocks, lie in streams of their own, so that as many
// prefetchers run ahead. All rows of a group are as long as its longest; what is added multiplies 0 by a 0 behind the end of x.
#pragma once

#include <map>

#include "csr.hpp"
#include "firstlight/simd.hpp"

namespace spmv {

// Where the values and columns of each stream begin.
template <fl::Index group>
struct Streams {
  Streams(const fl::Array<double> (&values)[group], const fl::Array<int> (&columns)[group]) {
    for (int r = 0; r < group; ++r) v[r] = values[r].data(), c[r] = columns[r].data();
  }
  const double* v[group];
  const int* c[group];
};

template <fl::Index group>
class Streamed {
 public:
  explicit Streamed(const Csr& a) : rows_(a.rows), start_(units() + 1) {
    start_[0] = 0;
    for (fl::Index g = 0; g < units(); ++g) {
      fl::Index longest = 0;
      for (fl::Index r = 0; r < group; ++r) longest = std::max(longest, a.length(g * group + r));
      start_[g + 1] = start_[g] + static_cast<int>(longest);
    }
    const fl::Index length = start_[units()];
    for (fl::Index r = 0; r < group; ++r) {
      column_[r] = fl::Array<int>(length);
      value_[r] = fl::Array<double>(length);
      for (fl::Index g = 0; g < units(); ++g)
        for (fl::Index k = 0; k < start_[g + 1] - start_[g]; ++k) {
          const fl::Index row = g * group + r;
          const bool real = k < a.length(row);
          column_[r][start_[g] + k] = real ? a.column[a.start[row] + k] : static_cast<int>(a.zero);
          value_[r][start_[g] + k] = real ? a.value[a.start[row] + k] : 0;
        }
    }
  }

  fl::Index units() const { return pieces(rows_, group); }
  fl::Index slots(fl::Index unit) const { return start_[unit]; }

  void multiply(const double* x, double* y, double scale, fl::Part some) const {
    const Streams<group> in(value_, column_);
    const int* first = start_.data();
    for (fl::Index g = some.begin; g < some.end; ++g) {
      double sum[group] = {};
      for (int k = first[g]; k < first[g + 1]; k += 8) fl::simd::unroll<group>([&](auto r) { prefetch(k, in.v[r], in.c[r]); });
      for (int k = first[g]; k < first[g + 1]; ++k) fl::simd::unroll<group>([&](auto r) { sum[r] += in.v[r][k] * x[in.c[r][k]]; });
      if ((g + 1) * group <= rows_)  // with an end that is known sums stay in registers
        fl::simd::unroll<group>([&](auto r) { y[g * group + r] = scale * sum[r]; });
      else
        for (int r = 0; r < rows_ - g * group; ++r) y[g * group + r] = scale * sum[r];
    }
  }

 private:
  fl::Index rows_;
  fl::Array<int> start_;  // of a group in each stream
  fl::Array<int> column_[group];
  fl::Array<double> value_[group];
};

// Blocks of 2 x 2, row by row, whose columns begin at an even one.
class StreamedBlock {
 public:
  explicit StreamedBlock(const Csr& a) : rows_(a.rows), start_(units() + 1) {
    std::vector<Blocks> found;
    for (fl::Index i = 0; i < units() * group; ++i) found.push_back(of(a, i));
    start_[0] = 0;
    for (fl::Index g = 0; g < units(); ++g) {
      std::size_t longest = 0;
      for (fl::Index r = 0; r < group; ++r) longest = std::max(longest, found[static_cast<std::size_t>(g * group + r)].size());
      start_[g + 1] = start_[g] + static_cast<int>(longest);
    }
    const fl::Index length = start_[units()];
    for (fl::Index r = 0; r < group; ++r) {
      column_[r] = fl::Array<int>(length);
      value_[r] = fl::Array<double>(length * size);
      for (fl::Index g = 0; g < units(); ++g) {
        fl::Index k = start_[g];
        for (const auto& [column, values] : found[static_cast<std::size_t>(g * group + r)]) {
          column_[r][k] = static_cast<int>(column);
          std::copy_n(values.begin(), size, &value_[r][size * k++]);
        }
        for (; k < start_[g + 1]; ++k) {
          column_[r][k] = static_cast<int>(a.zero);
          std::fill_n(&value_[r][size * k], size, 0.);
        }
      }
    }
  }

  fl::Index units() const { return pieces(pieces(rows_, block), group); }
  fl::Index slots(fl::Index unit) const { return start_[unit]; }

  void multiply(const double* x, double* y, double scale, fl::Part some) const {
    const Streams<group> in(value_, column_);
    const int* first = start_.data();
    for (fl::Index g = some.begin; g < some.end; ++g) {
      double sum[group][block] = {};
      for (int k = first[g]; k < first[g + 1]; k += 2) fl::simd::unroll<group>([&](auto r) { prefetch(size * k, in.v[r]); });
      for (int k = first[g]; k < first[g + 1]; ++k)
        fl::simd::unroll<group>([&](auto r) {
          const double *a = in.v[r] + size * k, *from = x + in.c[r][k];
          sum[r][0] += a[0] * from[0], sum[r][1] += a[2] * from[0];
          sum[r][0] += a[1] * from[1], sum[r][1] += a[3] * from[1];
        });
      const fl::Index row = g * group * block;
      if (row + group * block <= rows_)
        fl::simd::unroll<group * block>([&](auto r) { y[row + r] = scale * sum[r / block][r % block]; });
      else
        for (fl::Index r = 0; r < rows_ - row; ++r) y[row + r] = scale * sum[r / block][r % block];
    }
  }

 private:
  static constexpr fl::Index size = block * block;
  using Blocks = std::map<fl::Index, std::array<double, size>>;  // by their first column

  static Blocks of(const Csr& a, fl::Index row_of_blocks) {
    Blocks found;
    for (fl::Index r = 0; r < block; ++r) {
      const fl::Index row = row_of_blocks * block + r;
      for (fl::Index k = 0; k < a.length(row); ++k) {
        const fl::Index c = a.column[a.start[row] + k];
        found[c / block * block][static_cast<std::size_t>(r * block + c % block)] = a.value[a.start[row] + k];
      }
    }
    return found;
  }

  fl::Index rows_;
  fl::Array<int> start_;
  fl::Array<int> column_[group];
  fl::Array<double> value_[group];
};

}  // namespace spmv
