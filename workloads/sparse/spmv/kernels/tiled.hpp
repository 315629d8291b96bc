// Tiles of rows and columns: their parts of x and y stay in a cache while the matrix streams through it. Tiles of
// a block of rows follow each other by their columns, so that a row is added up in its order. Rows of a tile are sorted by how many entries they
// have in it, as in SELL-C-sigma, and nothing is padded: what rows of a slice have beyond the shortest follows it row by row.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "csr.hpp"

namespace spmv {

// Numbers of 2 bytes, one for each row of a slice, loaded four at a time: with one load more than those of an entry's value and its element of x
// it is loads that a processor cannot begin.
class Numbers {
 public:
  using Small = std::uint16_t;
  explicit Numbers(const Small* from) { std::memcpy(fours_, from, sizeof fours_); }
  Small operator[](int r) const {
    const int place = std::endian::native == std::endian::little ? r % 4 : 3 - r % 4;
    return static_cast<Small>(fours_[r / 4] >> (place * 16));
  }

 private:
  std::uint64_t fours_[chunk / 4];
};

// Columns of a row ascend.
template <fl::Index side = spmv::side>
class Tiled {
 public:
  explicit Tiled(const Csr& a) : rows_(a.rows), height_(height(a.rows, a.threads, side)) {
    static_assert(side <= 1 << 15, "rows, columns and entries of a row in a tile fit 16 bits");
    value_ = fl::Array<double>(a.start[rows_]);
    column_ = fl::Array<Small>(a.start[rows_]);
    std::vector<Small> numbers;
    for (fl::Index b = 0; b < units(); ++b) {
      begin_.push_back({a.start[b * height_], static_cast<fl::Index>(numbers.size()), runs_.size()});
      add_block(a, {b * height_, std::min(rows_, (b + 1) * height_)}, numbers);
    }
    begin_.push_back({a.start[rows_], static_cast<fl::Index>(numbers.size()), runs_.size()});
    number_ = fl::Array<Small>(static_cast<fl::Index>(numbers.size()));
    std::copy(numbers.begin(), numbers.end(), number_.data());
  }

  std::vector<Run>& runs() { return runs_; }
  fl::Index units() const { return pieces(rows_, height_); }
  fl::Index slots(fl::Index unit) const { return begin_[static_cast<std::size_t>(unit)].entry; }

  void multiply(const double* x, double* y, double scale, fl::Part some) const {
    for (fl::Index b = some.begin; b < some.end; ++b) {
      double* own = y + b * height_;
      const fl::Index rows = std::min(height_, rows_ - b * height_);
      std::fill_n(own, rows, 0.);
      add(x, own, static_cast<std::size_t>(b));
      for (fl::Index i = 0; i < rows; ++i) own[i] *= scale;
    }
  }

 private:
  using Small = Numbers::Small;
  struct Begin {
    fl::Index entry, number;
    std::size_t run;
  };

  // Adds the product of a block of rows; y is the first of them.
  void add(const double* x, double* y, std::size_t block) const {
    const Begin& begin = begin_[block];
    const double* v = value_.data() + begin.entry;
    const Small *c = column_.data() + begin.entry, *row = number_.data() + begin.number;
    for (std::size_t u = begin.run; u < begin_[block + 1].run; ++u) {
      const Run run = runs_[u];
      const double* from = x + run.tile * side;
      for (int s = 0; s < run.slices; ++s, row += chunk) {
        double sum[chunk];
        const Numbers own(row);
        fl::simd::unroll<chunk>([&](auto r) { sum[r] = y[own[r]]; });
        for (int k = 0; k < run.common; ++k, v += chunk, c += chunk) {
          prefetch(0, v, c);
          const Numbers columns(c);
          fl::simd::unroll<chunk>([&](auto r) { sum[r] += v[r] * from[columns[r]]; });
        }
        fl::simd::unroll<chunk>([&](auto r) { y[own[r]] = sum[r]; });
      }
      for (int rest = 0; rest < run.rests; ++rest, row += 2) {
        double sum = y[row[0]];
        for (int k = 0; k < row[1]; ++k) sum += *v++ * from[*c++];
        y[row[0]] = sum;
      }
    }
  }

  void add_block(const Csr& a, fl::Part rows, std::vector<Small>& numbers) {
    const int end = a.start[rows.end];
    int to = a.start[rows.begin];
    std::vector<int> next(a.start.data() + rows.begin, a.start.data() + rows.end), entries(next.size());  // of each row
    while (to < end) {
      fl::Index first = a.zero;  // column that is left
      for (std::size_t i = 0; i < next.size(); ++i)
        if (next[i] < a.start[rows.begin + static_cast<fl::Index>(i) + 1]) first = std::min<fl::Index>(first, a.column[next[i]]);
      const fl::Index tile = first / side;
      for (std::size_t i = 0; i < next.size(); ++i) {
        int k = next[i];
        while (k < a.start[rows.begin + static_cast<fl::Index>(i) + 1] && a.column[k] < (tile + 1) * side) ++k;
        entries[i] = k - next[i];
      }
      add_tile(entries, static_cast<int>(tile), numbers, [&](int row) {
        int& from = next[static_cast<std::size_t>(row)];
        column_[to] = static_cast<Small>(a.column[from] - tile * side);
        value_[to++] = a.value[from++];
      });
    }
  }

  // put(row) stores the row's next entry.
  template <class Put>
  void add_tile(const std::vector<int>& entries, int tile, std::vector<Small>& numbers, Put put) {
    const std::vector<int> order = by_entries(entries);
    std::size_t u = runs_.size();
    add_runs(entries, order, tile, runs_);
    for (auto begin = order.begin(), end = begin; u < runs_.size(); ++u) {
      const Run& run = runs_[u];
      for (int s = 0; s < run.slices; ++s) {
        begin = end, end += chunk;
        numbers.insert(numbers.end(), begin, end);
        for (int k = 0; k < run.common; ++k) std::for_each(begin, end, put);
      }
      if (run.slices == 0) begin = end, end = order.end();
      if (run.rests == 0) continue;
      std::for_each(begin, end, [&](int row) {
        const int left = entries[static_cast<std::size_t>(row)] - run.common;
        if (left > 0) numbers.insert(numbers.end(), {static_cast<Small>(row), static_cast<Small>(left)});
        for (int k = 0; k < left; ++k) put(row);
      });
    }
  }

  fl::Index rows_, height_;
  std::vector<Begin> begin_;  // of a block, and the end of the last
  std::vector<Run> runs_;
  fl::Array<Small> number_;  // of a slice's rows in their block; of a rest its row and how many entries it has
  fl::Array<Small> column_;  // in its tile
  fl::Array<double> value_;
};

}  // namespace spmv
