// The packed product: panels of B and blocks of A copied to where caches hold them, and a tile of C that stays in registers. The scheme is
// Goto's (K. Goto, R. van de Geijn, ACM TOMS 34 (2008) 12) in the loops of BLIS (F. Van Zee, R. van de Geijn, ACM TOMS 41 (2015) 14), turned
// for matrices whose rows are contiguous: a vector is a piece of a row of B and of C.
#pragma once

#include <algorithm>

#include "firstlight/simd.hpp"
#include "firstlight/split.hpp"
#include "matmul.hpp"

namespace matmul::inline FL_ROLE {

// Sums in registers, with a row of vectors of B beside them and one element of A in all lanes. Each vector of B is used `tile_rows` times and
// each element of A `tile_vectors` times: 11 loads for 24 multiply-adds, where a core starts two of either a cycle.
#if defined(__AVX512F__) || defined(__aarch64__) || defined(__powerpc64__)
inline constexpr int tile_rows = 8, tile_vectors = 3;  // 28 of 32 registers
#else
inline constexpr int tile_rows = 4, tile_vectors = 3;  // 16 of 16
#endif

// A panel of B streams from the first or second cache while a tile's rows of A pass, a block of A of 720 KiB stays in the second, and what is
// packed of B in the third, from where each block of A takes it once. Longer sums mean that C is read and written less often.
inline constexpr Index block_rows = 240, block_panels = 128;
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
          pack_panel(m.b.data() + k * n_ + j + p, std::min(panel, columns - p), deep, panels_.data() + p * deep);
        wait();
        for (Index i = own.begin; i < own.end; i += block_rows) {
          const Index rows = std::min(block_rows, own.end - i);
          pack_rows(m.a.data() + i * n_ + k, rows, deep, block);
          for (Index p = 0; p < columns; p += panel) {
            const T* after = panels_.data() + (p + panel < columns ? (p + panel) * deep : 0);
            const Sums sums{block, panels_.data() + p * deep, after, deep, factor, k > 0, c + i * n_ + j + p, n_};
            below_each_other(sums, rows, std::min(panel, columns - p));
          }
        }
        wait();
      }
    }
  }

 private:
  using Vector = fl::simd::native<T>;
  static constexpr int width = fl::simd::width<T>;
  static constexpr Index panel = tile_vectors * width;                            // columns
  static constexpr Index stride = depth<T> + 64 / static_cast<Index>(sizeof(T));  // of rows of a block: they begin in different sets
  static constexpr Index block_size = (block_rows + tile_rows) * stride;          // a tile more: what is fetched ahead

  // Of a panel's bytes for one term, what each tile fetches of the next panel while the tiles of a block pass.
  static constexpr Index share = (panel * static_cast<Index>(sizeof(T)) * tile_rows + block_rows - 1) / block_rows;

  // A tile: its rows of A, its panel of B, where to fetch from for the panel after it, whether the sums are added to C or written, and where.
  struct Sums {
    const T *a, *b, *after;
    Index deep;
    T factor;
    bool add;
    T* c;
    Index n;
  };

  // Rows stay rows: elements of A are taken one by one, from as many rows as a tile has. Those that no row of C needs are zeros.
  void pack_rows(const T* a, Index rows, Index deep, T* to) const {
    for (Index i = 0; i < rows; ++i) std::copy_n(a + i * n_, deep, to + i * stride);
    for (Index i = rows; i % tile_rows != 0; ++i) std::fill_n(to + i * stride, deep, T{});
  }

  // Whole vectors, of the last one zeros beyond B.
  void pack_panel(const T* b, Index columns, Index deep, T* to) const {
    const Index whole = columns / width * width, step = vectors_of(columns) * width;
    for (Index k = 0; k < deep; ++k, b += n_, to += step) {
      for (Index j = 0; j < whole; j += width) fl::simd::store(to + j, fl::simd::load<Vector>(b + j));
      for (Index j = whole; j < step; ++j) to[j] = j < columns ? b[j] : T{};
    }
  }
  static constexpr Index vectors_of(Index columns) { return (columns + width - 1) / width; }

  static void below_each_other(const Sums& first, Index rows, Index columns) {
    const Index count = vectors_of(columns);
    for (Index i = 0; i < rows; i += tile_rows) {
      Sums here = first;
      here.a += i * stride, here.c += i * first.n;
      here.after += i * panel * first.deep / block_rows;
      const Index height = std::min<Index>(tile_rows, rows - i);
      fl::simd::unroll<tile_vectors>([&](auto v) __attribute__((always_inline)) {
        if (count == v + 1) tile<v + 1>(here, height, columns);
      });
    }
  }

  template <int vectors>
  [[gnu::noinline]] static void tile(const Sums& s, Index height, Index columns) {
    Vector sum[tile_rows * vectors] = {};
    each<vectors>([&](auto r, auto v) __attribute__((always_inline)) { __builtin_prefetch(s.c + r * s.n + v * width, 1); });
    const T *a = s.a, *b = s.b;
    const auto* after = reinterpret_cast<const char*>(s.after);
    for (Index k = 0; k < s.deep; ++k, ++a, b += vectors * width, after += share) {
      __builtin_prefetch(s.a + tile_rows * (stride + k));  // of the next rows
      __builtin_prefetch(after, 0, 2);                     // to the second cache
      Vector right[vectors];
      fl::simd::unroll<vectors>([&](auto v) __attribute__((always_inline)) { right[v] = fl::simd::load<Vector>(b + v * width); });
      fl::simd::unroll<tile_rows>([&](auto r) __attribute__((always_inline)) {
        const Vector left = a[r * stride] - Vector{};
        fl::simd::unroll<vectors>([&](auto v) __attribute__((always_inline)) { sum[r * vectors + v] += left * right[v]; });
      });
    }
    if (height == tile_rows && columns == vectors * width) {
      each<vectors>([&](auto r, auto v) __attribute__((always_inline)) {
        T* to = s.c + r * s.n + v * width;
        const Vector product = s.factor * sum[r * vectors + v];
        fl::simd::store(to, s.add ? fl::simd::load<Vector>(to) + product : product);
      });
      return;
    }
    T edge[tile_rows * vectors * width];
    each<vectors>([&](auto r, auto v) __attribute__((always_inline)) {
      fl::simd::store(edge + (r * vectors + v) * width, s.factor * sum[r * vectors + v]);
    });
    for (Index i = 0; i < height; ++i)
      for (Index j = 0; j < columns; ++j) s.c[i * s.n + j] = edge[i * vectors * width + j] + (s.add ? s.c[i * s.n + j] : T{});
  }

  template <int vectors, class F>
  [[gnu::always_inline]] static void each(F f) {
    fl::simd::unroll<tile_rows>([&](auto r) __attribute__((always_inline)) {
      fl::simd::unroll<vectors>([&](auto v) __attribute__((always_inline)) { f(r, v); });
    });
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
