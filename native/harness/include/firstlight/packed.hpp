// The core of a packed matrix product: a tile of C in registers, a panel of B packed by vectors, and rows of A that begin in different sets of a
// cache. The scheme is Goto's (K. Goto, R. van de Geijn, ACM TOMS 34 (2008) 12) in the loops of BLIS (F. Van Zee, R. van de Geijn, ACM TOMS 41
// (2015) 14), turned for matrices whose rows are contiguous: a vector is a piece of a row of B and of C. The rows of A of a tile stay in the
// first cache while panels of B pass from the second: a quarter less comes from there than with one panel and passing rows of A, which are also
// as many pages of C. Each element of C is a sum over all terms in their order, wherever it is.
#pragma once

#include <algorithm>

#include "firstlight/simd.hpp"
#include "firstlight/split.hpp"

namespace fl::inline FL_ROLE::packed {

// Sums in registers, together with a row of vectors of B and one element of A in all lanes. Each vector of B is used `tile_rows` times and
// each element of A `tile_vectors` times: 11 loads for 24 multiply-adds, where a core starts two of either a cycle.
#if defined(__AVX512F__) || defined(__aarch64__) || defined(__powerpc64__)
inline constexpr int tile_rows = 8, tile_vectors = 3;  // 28 of 32 registers
#else
inline constexpr int tile_rows = 4, tile_vectors = 3;  // 16 of 16
#endif

// The largest part of B, in bytes, that stays in the second-level cache while all rows of A pass.
inline constexpr Index block_bytes = Index{3} << 18;

// `stride`: from a row of A to the next. Rows of A are read up to a whole number of tiles.
template <class T, Index stride>
class Kernel {
  using Vector = simd::native<T>;
  static constexpr int width = simd::width<T>;

 public:
  static constexpr Index panel = tile_vectors * width;  // columns of B that are packed together

  // C = [C +] factor A B, `deep` terms a sum: rows of A, packed panels of B, `ldc` elements from a row of C to the next.
  struct Sums {
    const T *a, *b;
    Index deep;
    T factor;
    bool add;
    T* c;
    Index ldc;
  };

  // Packs up to `panel` columns of B as whole vectors. Zeros fill the last vector beyond B.
  static void pack(const T* b, Index ldb, Index columns, Index deep, T* to) {
    const Index whole = columns / width * width, step = vectors_of(columns) * width;
    for (Index k = 0; k < deep; ++k, b += ldb, to += step) {
      for (Index j = 0; j < whole; j += width) simd::store(to + j, simd::load<Vector>(b + j));
      for (Index j = whole; j < step; ++j) to[j] = j < columns ? b[j] : T{};
    }
  }

  // L X = B for up to `panel` columns of B, packed, whose place X takes: the lower triangle of `deep` rows, with ones on its diagonal. Behind
  // what is packed there is room for the rows of a tile.
  static void solve(const T* l, T* b, Index deep, Index columns) {
    const Index count = vectors_of(columns);
    for (Index i = 0; i < deep; i += tile_rows)
      simd::unroll<tile_vectors>([&](auto v) __attribute__((always_inline)) {
        if (count == v + 1) solve_tile<v + 1>(l + i * stride, b, i, std::min<Index>(tile_rows, deep - i));
      });
  }
  // Back to where columns came from.
  static void unpack(const T* from, Index columns, Index deep, T* b, Index ldb) {
    const Index whole = columns / width * width, step = vectors_of(columns) * width;
    for (Index k = 0; k < deep; ++k, b += ldb, from += step) {
      for (Index j = 0; j < whole; j += width) simd::store(b + j, simd::load<Vector>(from + j));
      for (Index j = whole; j < columns; ++j) b[j] = from[j];
    }
  }

  // Multiplies `rows` rows of A by packed columns of B, panel after panel.
  static void multiply(const Sums& s, Index rows, Index columns) {
    const Index most = std::max<Index>(block_bytes / (panel * static_cast<Index>(sizeof(T)) * std::max<Index>(s.deep, 1)), 1) * panel;
    for (Index j = 0; j < columns; j += most)
      block({s.a, s.b + j * s.deep, s.deep, s.factor, s.add, s.c + j, s.ldc}, rows, std::min(most, columns - j));
  }

 private:
  static constexpr Index row_bytes = stride * static_cast<Index>(sizeof(T));

  // Terms that are added without a look around.
  static constexpr int terms = 4;

  // What comes to the first cache while a tile is summed, with each few terms: a line of the next tile of C, for the lines that a core waits for
  // at once are few; and what is `step` bytes further in the next rows of A.
  struct Ahead {
    const T* c;
    Index ldc;
    const char* a;
    Index step;
  };

  static constexpr Index vectors_of(Index columns) { return (columns + width - 1) / width; }

  // Multiplies by columns whose B stays in the second-level cache.
  static void block(const Sums& s, Index rows, Index columns) {
    const Index panels = (columns + panel - 1) / panel, step = row_bytes * tile_rows * terms / std::max<Index>(panels * s.deep, 1);
    for (Index i = 0; i < rows; i += tile_rows) {
      const Index height = std::min<Index>(tile_rows, rows - i);
      Ahead ahead{nullptr, s.ldc, reinterpret_cast<const char*>(s.a) + (i + tile_rows) * row_bytes, step};
      for (Index p = 0; p < columns; p += panel, ahead.a += s.deep / terms * step) {
        Sums here = s;
        here.a += i * stride, here.b += p * s.deep, here.c += i * s.ldc + p;
        ahead.c = p + panel < columns ? here.c + panel : s.c + (i + tile_rows) * s.ldc;
        const Index wide = std::min(panel, columns - p), count = vectors_of(wide);
        simd::unroll<tile_vectors>([&](auto v) __attribute__((always_inline)) {
          if (count == v + 1) tile<v + 1>(here, ahead, height, wide);
        });
      }
    }
  }

  template <int vectors>
  [[gnu::noinline]] static void tile(const Sums& s, const Ahead& ahead, Index height, Index columns) {
    Vector sum[tile_rows * vectors] = {};
    add_up<vectors>(sum, s.a, s.b, s.deep, ahead);
    if (height == tile_rows && columns == vectors * width) {
      each<vectors>([&](auto r, auto v) __attribute__((always_inline)) {
        T* to = s.c + r * s.ldc + v * width;
        const Vector product = s.factor * sum[r * vectors + v];
        simd::store(to, s.add ? simd::load<Vector>(to) + product : product);
      });
      return;
    }
    T edge[tile_rows * vectors * width];
    each<vectors>([&](auto r, auto v)
                      __attribute__((always_inline)) { simd::store(edge + (r * vectors + v) * width, s.factor * sum[r * vectors + v]); });
    for (Index i = 0; i < height; ++i)
      for (Index j = 0; j < columns; ++j) s.c[i * s.ldc + j] = edge[i * vectors * width + j] + (s.add ? s.c[i * s.ldc + j] : T{});
  }

  // Solves for rows first <= r < first + height of a system, after the rows before them. `l` points to the first of these rows.
  template <int vectors>
  [[gnu::noinline]] static void solve_tile(const T* l, T* b, Index first, Index height) {
    Vector x[tile_rows * vectors] = {};
    T* to = b + first * vectors * width;
    add_up<vectors>(x, l, b, first, {to, vectors * width, reinterpret_cast<const char*>(l + tile_rows * stride), tile_rows * sizeof(T)});
    each<vectors>([&](auto r, auto v) __attribute__((always_inline)) {
      x[r * vectors + v] = simd::load<Vector>(to + (r * vectors + v) * width) - x[r * vectors + v];
    });
    simd::unroll<tile_rows>([&](auto q) __attribute__((always_inline)) {
      if (q < height)
        simd::unroll<vectors>([&](auto v)
                                  __attribute__((always_inline)) { simd::store(to + (q * vectors + v) * width, x[q * vectors + v]); });
      simd::unroll<tile_rows - 1 - q>([&](auto below) __attribute__((always_inline)) {
        constexpr int r = q + 1 + below;
        const Vector left = l[r * stride + first + q] - Vector{};
        simd::unroll<vectors>([&](auto v) __attribute__((always_inline)) { x[r * vectors + v] -= left * x[q * vectors + v]; });
      });
    });
  }

  // Adds `deep` terms to the sums of a tile.
  template <int vectors>
  [[gnu::always_inline]] static void add_up(Vector (&sum)[tile_rows * vectors], const T* a, const T* b, Index deep, Ahead ahead) {
    const auto term = [&]() __attribute__((always_inline)) {
      Vector right[vectors];
      simd::unroll<vectors>([&](auto v) __attribute__((always_inline)) { right[v] = simd::load<Vector>(b + v * width); });
      simd::unroll<tile_rows>([&](auto r) __attribute__((always_inline)) {
        const Vector left = a[r * stride] - Vector{};
        simd::unroll<vectors>([&](auto v) __attribute__((always_inline)) { sum[r * vectors + v] += left * right[v]; });
      });
      ++a, b += vectors * width;
    };
    const Index each_row = deep / tile_rows / terms * terms;
    Index k = 0;
    for (int r = 0; r < tile_rows; ++r, ahead.c += ahead.ldc) {
      const T* line = ahead.c;
      for (const Index end = k + each_row; k < end; k += terms, line += width, ahead.a += ahead.step) {
        if (line < ahead.c + vectors * width) __builtin_prefetch(line, 1);
        __builtin_prefetch(ahead.a);
        simd::unroll<terms>([&](auto) __attribute__((always_inline)) { term(); });
      }
    }
    for (; k < deep; ++k) term();
  }

  template <int vectors, class F>
  [[gnu::always_inline]] static void each(F f) {
    simd::unroll<tile_rows>([&](auto r) __attribute__((always_inline)) {
      simd::unroll<vectors>([&](auto v) __attribute__((always_inline)) { f(r, v); });
    });
  }
};

}  // namespace fl::inline FL_ROLE::packed
