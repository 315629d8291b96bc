// The packed product: panels of B and blocks of A copied to where caches hold them, around the kernel of firstlight/packed.hpp.
#pragma once

#include <algorithm>

#include "firstlight/packed.hpp"
#include "matmul.hpp"

namespace matmul::inline FL_ROLE {

using fl::packed::block_rows, fl::packed::tile_rows;

// A panel of B streams from the first or second cache while a tile's rows of A pass, a block of A of 720 KiB stays in the second, and what is
// packed of B in the third, from where each block of A takes it once. Longer sums mean that C is read and written less often.
inline constexpr Index block_panels = 128;
template <class T>
inline constexpr Index depth = 3072 / static_cast<Index>(sizeof(T));

template <class T>
class Packed {
 public:
  // For `parties` that multiply together.
  void open(Index n, Index parties) {
    n_ = n;
    rows_ = fl::Array<T>(parties * block_size);
    const Index panels = std::min<Index>((n + panel - 1) / panel, block_panels);
    panels_ = fl::Array<T>(std::min(n, depth<T>) * panels * panel);
  }

  // What `party` does of C = factor * A B: rows of C of its own, after all have packed some panels of B. wait() returns when all have come to it.
  template <class Wait>
  void multiply(const Matrices<T>& m, T* c, T factor, Index party, Index parties, Wait wait) {
    const fl::Part own = fl::part_in_units(n_, parties, party, tile_rows);
    T* block = rows_.data() + party * block_size;
    for (Index j = 0; j < n_; j += block_panels * panel) {
      const Index columns = std::min(block_panels * panel, n_ - j);
      for (Index k = 0; k < n_; k += depth<T>) {
        const Index deep = std::min(depth<T>, n_ - k);
        for (Index p = party * panel; p < columns; p += parties * panel)
          Kernel::pack(m.b.data() + k * n_ + j + p, n_, std::min(panel, columns - p), deep, panels_.data() + p * deep);
        wait();
        for (Index i = own.begin; i < own.end; i += block_rows) {
          const Index rows = std::min(block_rows, own.end - i);
          pack_rows(m.a.data() + i * n_ + k, rows, deep, block);
          for (Index p = 0; p < columns; p += panel) {
            const T* after = panels_.data() + (p + panel < columns ? (p + panel) * deep : 0);
            Kernel::multiply({block, panels_.data() + p * deep, after, deep, factor, k > 0, c + i * n_ + j + p, n_}, rows,
                             std::min(panel, columns - p));
          }
        }
        wait();
      }
    }
  }

 private:
  static constexpr Index stride = depth<T> + 64 / static_cast<Index>(sizeof(T));  // of rows of a block: they begin in different sets
  static constexpr Index block_size = (block_rows + tile_rows) * stride;          // a tile more: what is fetched ahead
  using Kernel = fl::packed::Kernel<T, stride>;
  static constexpr Index panel = Kernel::panel;  // columns

  // Rows stay rows: elements of A are taken one by one, from as many rows as a tile has. Those that no row of C needs are zeros.
  void pack_rows(const T* a, Index rows, Index deep, T* to) const {
    for (Index i = 0; i < rows; ++i) std::copy_n(a + i * n_, deep, to + i * stride);
    for (Index i = rows; i % tile_rows != 0; ++i) std::fill_n(to + i * stride, deep, T{});
  }

  Index n_ = 0;
  fl::Array<T> rows_, panels_;  // a block of A for each party, panels of B for all
};

// In both precisions: only that of the step has memory.
class BothPacked {
 public:
  void open(const State& s, Index parties) {
    if (s.precision == 32)
      singles_.open(s.n, parties);
    else
      doubles_.open(s.n, parties);
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

}  // namespace matmul::inline FL_ROLE
