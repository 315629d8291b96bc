// Stencil and products by vectors: the states of a pack side by side, sums in registers.
#pragma once

#include "firstlight/simd.hpp"
#include "products.hpp"

namespace rsdft::inline FL_ROLE {

using Vector = fl::simd::native<double>;
inline constexpr int width = fl::simd::width<double>, vectors = static_cast<int>(lanes) / width;

struct VectorStencil : Bounded {
  static void apply(const Row& row, const Weights& w, double trap, const Recurrence& r) {
    fl::simd::unroll<6>([&](auto m) __attribute__((always_inline)) {
      if (w.radius == m + 1) with_radius<m + 1>(row, w, trap, r);
    });
  }

 private:
  template <int radius>
  [[gnu::noinline]] static void with_radius(const Row& row, const Weights& w, double trap, const Recurrence& r) {
    Vector weight[radius];
    fl::simd::unroll<radius>([&](auto m) __attribute__((always_inline)) { weight[m] = r.alpha * w.neighbour[m + 1] - Vector{}; });
    const Index plane = row.plane * lanes, line = row.line * lanes;
    for (Index k = 0; k < row.count; ++k) {
      const double local = r.alpha * (w.middle + trap * row.potential[k] - r.shift);
      fl::simd::unroll<vectors>([&](auto v) __attribute__((always_inline)) {
        const double* u = row.u[k].at + v * width;
        double* out = row.out[k].at + v * width;
        const auto at = [&](Index offset) __attribute__((always_inline)) { return fl::simd::load<Vector>(u + offset); };
        Vector sum = local * at(0) + r.beta * fl::simd::load<Vector>(out);
        fl::simd::unroll<radius>([&](auto m) __attribute__((always_inline)) {
          constexpr Index far = m + 1;
          sum += weight[m] *
                 (((at(-far * plane) + at(far * plane)) + (at(-far * line) + at(far * line))) + (at(-far * lanes) + at(far * lanes)));
        });
        fl::simd::store(out, sum);
      });
    }
  }
};

struct VectorProducts {
  // As in PlainProducts; so many rows that they stay in a cache while all tiles of sums pass.
  static void inner(Index rows, Index m, Index n, Columns<const double> a, Columns<const double> b, Columns<double> c) {
    constexpr Index together = 128;
    for (Index k = 0; k < rows; k += together)
      for (Index i = 0; i < m; i += tile)
        for (Index j = 0; j < n; j += lanes) {
          double* const sums = c.first + i * c.stride + j;
          Vector sum[tile * vectors];
          each([&](auto r, auto v)
                   __attribute__((always_inline)) { sum[r * vectors + v] = fl::simd::load<Vector>(sums + r * c.stride + v * width); });
          for (Index row = k; row < std::min(k + together, rows); ++row) {
            const double* left = a.first + row * a.stride + i;
            const double* right = b.first + row * b.stride + j;
            each([&](auto r, auto v)
                     __attribute__((always_inline)) { sum[r * vectors + v] += left[r] * fl::simd::load<Vector>(right + v * width); });
          }
          each([&](auto r, auto v)
                   __attribute__((always_inline)) { fl::simd::store(sums + r * c.stride + v * width, sum[r * vectors + v]); });
        }
  }
  static void outer(Index rows, Index m, Index n, double alpha, Columns<const double> a, Columns<const double> b, Columns<double> c) {
    Index k = 0;
    for (; k + tile <= rows; k += tile) some_rows<tile>(k, m, n, alpha, a, b, c);
    for (; k < rows; ++k) some_rows<1>(k, m, n, alpha, a, b, c);
  }

 private:
  static constexpr int tile = width == 8 ? 8 : 4;  // rows of sums: with the vectors that they need, what registers hold

  template <int count>
  static void some_rows(Index k, Index m, Index n, double alpha, Columns<const double> a, Columns<const double> b, Columns<double> c) {
    const double* left = a.first + k * a.stride;
    for (Index j = 0; j < n; j += lanes) {
      Vector sum[count * vectors] = {};
      for (Index i = 0; i < m; ++i) {
        const double* right = b.first + i * b.stride + j;
        each<count>([&](auto r, auto v) __attribute__((always_inline)) {
          sum[r * vectors + v] += left[r * a.stride + i] * fl::simd::load<Vector>(right + v * width);
        });
      }
      each<count>([&](auto r, auto v) __attribute__((always_inline)) {
        double* to = c.first + (k + r) * c.stride + j + v * width;
        fl::simd::store(to, fl::simd::load<Vector>(to) + alpha * sum[r * vectors + v]);
      });
    }
  }
  template <int count = tile, class F>
  [[gnu::always_inline]] static void each(F f) {
    fl::simd::unroll<count>([&](auto r) __attribute__((always_inline)) {
      fl::simd::unroll<vectors>([&](auto v) __attribute__((always_inline)) { f(r, v); });
    });
  }
};

}  // namespace rsdft::inline FL_ROLE
