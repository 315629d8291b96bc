// Tile columns: what a panel does to the columns behind it. Work on a column is the same whoever does it, so no bit of the result depends on that.
#pragma once

#include "firstlight/simd.hpp"
#include "pivoting.hpp"

namespace lu::inline FL_ROLE {

// c -= a b: rows of `deep` elements of a, of `width` of b and c, `ld` from one to the next; sums of four rows in registers.
struct OwnProduct {
  static void subtract(const double* a, const double* b, double* c, Index rows, Index deep, Index width, Index ld) {
    using Vector = fl::simd::native<double>;
    constexpr int lanes = fl::simd::width<double>, vectors = 2, high = 4;
    Index j = 0;
    for (; j + vectors * lanes <= width; j += vectors * lanes) {
      Index i = 0;
      for (; i + high <= rows; i += high) {
        Vector sum[high * vectors];
        fl::simd::unroll<high * vectors>(
            [&](auto t) { sum[t] = fl::simd::load<Vector>(c + (i + t / vectors) * ld + j + t % vectors * lanes); });
        for (Index k = 0; k < deep; ++k)
          fl::simd::unroll<high * vectors>(
              [&](auto t) { sum[t] -= a[(i + t / vectors) * ld + k] * fl::simd::load<Vector>(b + k * ld + j + t % vectors * lanes); });
        fl::simd::unroll<high * vectors>([&](auto t) { fl::simd::store(c + (i + t / vectors) * ld + j + t % vectors * lanes, sum[t]); });
      }
      plain(a + i * ld, b + j, c + i * ld + j, rows - i, deep, vectors * lanes, ld);
    }
    plain(a, b + j, c + j, rows, deep, width - j, ld);
  }

 private:
  static void plain(const double* a, const double* b, double* c, Index rows, Index deep, Index width, Index ld) {
    for (Index i = 0; i < rows; ++i)
      for (Index k = 0; k < deep; ++k)
        for (Index j = 0; j < width; ++j) c[i * ld + j] -= a[i * ld + k] * b[k * ld + j];
  }
};

template <class Pivoting, class Product>
class Tiles {
 public:
  explicit Tiles(State& s) : s_(s), count_((s.n + s.p.block - 1) / s.p.block) {}

  Index count() const { return count_; }
  void factor(Index k) { Pivoting::panel(s_, columns(k)); }

  // Column j after panel k: exchanges, the rows of U beside the panel's triangle, and all below.
  void update(Index j, Index k) {
    const Columns panel = columns(k), c = columns(j);
    for (Index r = panel.begin; r < panel.end; ++r) exchange(s_, r, c);
    for (Index r = panel.begin; r < panel.end; ++r)
      for (Index q = panel.begin; q < r; ++q)
        for (Index i = c.begin; i < c.end; ++i) s_.row(r)[i] -= s_.row(r)[q] * s_.row(q)[i];
    Product::subtract(s_.row(panel.end) + panel.begin, s_.row(panel.begin) + c.begin, s_.row(panel.end) + c.begin, s_.n - panel.end,
                      panel.end - panel.begin, c.end - c.begin, s_.ld);
  }

  // Exchanges of later panels in the rows of L.
  void settle(Index k) {
    const Columns c = columns(k);
    for (Index r = c.end; r < s_.n; ++r) exchange(s_, r, c);
  }

 private:
  Columns columns(Index k) const { return {k * s_.p.block, std::min((k + 1) * s_.p.block, s_.n)}; }

  State& s_;
  Index count_;
};

// L y = P b, U x = y.
inline void solve(State& s) {
  const fl::In in(phases("solve"));
  for (Index i = 0; i < s.n; ++i) s.x[i] = s.factor * s.b[i];
  for (Index k = 0; k < s.n; ++k) std::swap(s.x[k], s.x[s.pivot[k]]);
  for (Index i = 0; i < s.n; ++i)
    for (Index j = 0; j < i; ++j) s.x[i] -= s.row(i)[j] * s.x[j];
  for (Index i = s.n - 1; i >= 0; --i) {
    for (Index j = i + 1; j < s.n; ++j) s.x[i] -= s.row(i)[j] * s.x[j];
    s.x[i] /= s.row(i)[i];
  }
}

// One thread, panel after panel.
template <class Pivoting, class Product>
void in_turn(State& s, Index) {
  Tiles<Pivoting, Product> tiles(s);
  for (Index k = 0; k < tiles.count(); ++k) {
    fl::during(phases("panels"), [&] { tiles.factor(k); });
    const fl::In in(phases("updates"));
    for (Index j = k + 1; j < tiles.count(); ++j) tiles.update(j, k);
  }
  for (Index k = 0; k < tiles.count(); ++k) tiles.settle(k);
  solve(s);
}

}  // namespace lu::inline FL_ROLE
