// The packed product: panels of B and rows of A copied to where the kernel of firstlight/packed.hpp needs them.
#pragma once

#include <algorithm>

#include "firstlight/packed.hpp"
#include "matmul.hpp"

namespace matmul {

using fl::packed::tile_rows;

// The terms of C that are summed at a time: of all rows of A and columns of B that many are packed. Longer sums mean that C is read and written
// less often; the rows of A of a tile (24 KiB) and a panel of B pass through the first cache together.
template <class T>
inline constexpr Index depth = 3072 / static_cast<Index>(sizeof(T));

template <class T>
class Packed {
 public:
  void open(Index n) {
    n_ = n;
    rows_ = fl::Array<T>((n + tile_rows - 1) / tile_rows * tile_rows * stride);
    panels_ = fl::Array<T>(std::min(n, depth<T>) * ((n + panel - 1) / panel * panel));
  }

  // What `party` of several does of C = factor * A B: rows of C of its own, after all have packed some panels of B. wait() returns when all have
  // come to it.
  template <class Wait>
  void multiply(const Matrices<T>& m, T* c, T factor, Index party, Index parties, Wait wait) {
    const fl::Part own = fl::part_in_units(n_, parties, party, tile_rows);
    T* rows = rows_.data() + own.begin * stride;
    for (Index k = 0; k < n_; k += depth<T>) {
      const Index deep = std::min(depth<T>, n_ - k);
      for (Index p = party * panel; p < n_; p += parties * panel)
        Kernel::pack(m.b.data() + k * n_ + p, n_, std::min(panel, n_ - p), deep, panels_.data() + p * deep);
      pack_rows(m.a.data() + own.begin * n_ + k, own.size(), deep, rows);
      wait();
      Kernel::multiply({rows, panels_.data(), deep, factor, k > 0, c + own.begin * n_, n_}, own.size(), n_);
      wait();
    }
  }

 private:
  static constexpr Index stride = depth<T> + 64 / static_cast<Index>(sizeof(T));  // of rows of A: they begin in different sets
  using Kernel = fl::packed::Kernel<T, stride>;
  static constexpr Index panel = Kernel::panel;  // columns

  // Rows stay rows: elements of A are taken one by one, from as many rows as a tile has. Those that no row of C needs are zeros.
  void pack_rows(const T* a, Index rows, Index deep, T* to) const {
    for (Index i = 0; i < rows; ++i) std::copy_n(a + i * n_, deep, to + i * stride);
    for (Index i = rows; i % tile_rows != 0; ++i) std::fill_n(to + i * stride, deep, T{});
  }

  Index n_ = 0;
  fl::Array<T> rows_, panels_;
};

// In both precisions: only that of the step has memory.
class BothPacked {
 public:
  void open(const State& s) {
    if (s.precision == 32)
      singles_.open(s.n);
    else
      doubles_.open(s.n);
  }
  template <class Wait>
  void multiply(State& s, Index party, Index parties, Wait wait) {
    if (s.precision == 32)
      singles_.multiply(s.singles, s.singles.c.data(), static_cast<float>(s.factor), party, parties, wait);
    else
      doubles_.multiply(s.doubles, s.doubles.c.data(), s.factor, party, parties, wait);
  }

 private:
  Packed<float> singles_;
  Packed<double> doubles_;
};

}  // namespace matmul
