// Stencil and products by vectors: the states of a pack side by side, sums in registers.
#pragma once

#include "firstlight/simd.hpp"
#include "products.hpp"

namespace rsdft {

using Vector = fl::simd::native<double>;
inline constexpr int width = fl::simd::width<double>, vectors = static_cast<int>(lanes) / width;

// A step of so many bytes through memory. A processor adds its multiples by 1, 2, 4 and 8 to a base as it loads; a compiler that sees how dozens of
// addresses hang together keeps an offset for each on the stack instead, and loads it before each load. So bases are hidden from it.
class Stride {
 public:
  explicit Stride(Index bytes) : once_(hidden(bytes)), thrice_(hidden(3 * bytes)) {}

  template <class T>
  T* after(T* from) const {
    return hidden(reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(from) + static_cast<std::uintptr_t>(once_)));
  }
  // to[0], ..., to[count - 1]: what is at `from` and each a step further.
  template <int count>
  void load(const double* from, Vector* to) const {
    auto base = reinterpret_cast<std::uintptr_t>(from);
    fl::simd::unroll<count>([&](auto i) __attribute__((always_inline)) {
      if constexpr (i > 0 && i % 4 == 0) base = hidden(base + 4 * static_cast<std::uintptr_t>(once_));
      constexpr int steps = i % 4;
      const Index offset = steps == 3 ? thrice_ : steps * once_;
      to[i] = fl::simd::load<Vector>(reinterpret_cast<const double*>(base + static_cast<std::uintptr_t>(offset)));
    });
  }

 private:
  template <class T>
  static T hidden(T address) {
    asm("" : "+r"(address));
    return address;
  }
  Index once_, thrice_;
};

struct VectorStencil : Bounded {
  static void apply(const Cells& cells, const grid::Box<3>& box, const Weights& w, double trap, const Recurrence& r) {
    fl::simd::unroll<6>([&](auto m) __attribute__((always_inline)) {
      if (w.radius == m + 1) tiles<m + 1>(cells, box, w, trap, r);
    });
  }

 private:
  // Lines in neighbouring planes at a time: what a block loads of itself and of its surroundings serves all of its sums, so that the second cache
  // sends 36 lines of memory for four results of order 8 where a cell by itself needs 17 for one.
  static constexpr int planes = width >= 4 ? 2 : 1, lines = planes;

  static constexpr Index ceiling(Index a, Index b) { return (a + b - 1) / b; }

  // So many lines at a time that they, the adjacent ones and the planes above and below are still in the second cache when the next planes need them.
  template <int radius>
  static void tiles(const Cells& cells, const grid::Box<3>& box, const Weights& w, double trap, const Recurrence& r) {
    if (box.empty()) return;
    constexpr Index bytes = 5 << 18;
    const Index fitting = bytes / ((planes + 2 * radius) * cells.line * static_cast<Index>(sizeof(Pack))) - 2 * radius;
    const Index bands = ceiling(box.size(1), std::max<Index>(radius, fitting));
    const Index band = ceiling(box.size(1), bands * lines) * lines;
    for (Index j = box.lower[1]; j < box.upper[1]; j += band) {
      const Index count = std::min(band, box.upper[1] - j);
      Index i = box.lower[0];
      for (; i + planes <= box.upper[0]; i += planes)
        some_planes<radius, planes>(cells.from(i, j, box.lower[2]), count, box.size(2), w, trap, r);
      for (; i < box.upper[0]; ++i) some_planes<radius, 1>(cells.from(i, j, box.lower[2]), count, box.size(2), w, trap, r);
    }
  }

  template <int radius, int high>
  static void some_planes(const Cells& first, Index count, Index cells, const Weights& w, double trap, const Recurrence& r) {
    const auto next = [&](Index j) { return j < count ? first.from(0, j, 0) : first.from(high, 0, 0); };
    Index j = 0;
    for (; j + lines <= count; j += lines) block<radius, high, lines>(first.from(0, j, 0), next(j + lines), cells, w, trap, r);
    for (; j < count; ++j) block<radius, high, 1>(first.from(0, j, 0), next(j + 1), cells, w, trap, r);
  }

  // `wide` lines in each of `high` planes; fetches what `next` sees first.
  template <int radius, int high, int wide>
  [[gnu::noinline]] static void block(const Cells& first, const Cells& next, Index cells, const Weights& w, double trap,
                                      const Recurrence& r) {
    Vector weight[radius + 1];
    fl::simd::unroll<radius>([&](auto m) __attribute__((always_inline)) { weight[m + 1] = r.alpha * w.neighbour[m + 1] - Vector{}; });
    const double middle = r.alpha * (w.middle - r.shift), local = r.alpha * trap;
    const Stride plane(first.plane * static_cast<Index>(sizeof(Pack))), line(first.line * static_cast<Index>(sizeof(Pack)));
    const Index to_line = first.line * lanes;
    const double *lowest = (first.u - radius * first.plane)->at, *next_u = (next.u + radius * next.plane)->at, *next_out = next.out->at;
    double* out = first.out->at;
    for (Index k = 0; k < cells; ++k)
      fl::simd::unroll<vectors>([&](auto) __attribute__((always_inline)) {
        Vector sum[high * wide];
        double* to = out;
        const double *ahead_u = next_u, *ahead_out = next_out;
        fl::simd::unroll<high>([&](auto i) __attribute__((always_inline)) {
          if constexpr (i > 0) to = plane.after(to), ahead_u = plane.after(ahead_u), ahead_out = plane.after(ahead_out);
          fl::simd::unroll<wide>([&](auto j) __attribute__((always_inline)) {
            sum[i * wide + j] = r.beta * fl::simd::load<Vector>(to + j * to_line);
            __builtin_prefetch(ahead_u + j * to_line);
            __builtin_prefetch(ahead_out + j * to_line, 1);
          });
        });
        const double* at = lowest;
        fl::simd::unroll<high + 2 * radius>([&](auto p) __attribute__((always_inline)) {
          if constexpr (p > 0) at = plane.after(at);
          constexpr int here = p - radius;
          constexpr bool within = here >= 0 && here < high;
          constexpr int edge = within ? radius : 0;
          Vector u[wide + 2 * edge];
          line.load<wide + 2 * edge>(at - edge * to_line, u);
          fl::simd::unroll<wide>([&](auto j) __attribute__((always_inline)) {
            fl::simd::unroll<high>([&](auto i) __attribute__((always_inline)) {
              constexpr int far = here > i ? here - i : i - here;
              if constexpr (far > 0 && far <= radius) sum[i * wide + j] += weight[far] * u[edge + j];
            });
            if constexpr (within) {
              const double* row = at + j * to_line;
              Vector& mine = sum[here * wide + j];
              mine += (middle + local * first.potential[here * first.potential_plane + j * first.potential_line + k]) * u[edge + j];
              fl::simd::unroll<radius>([&](auto m) __attribute__((always_inline)) {
                constexpr int far = m + 1;
                mine += weight[far] * ((u[edge + j - far] + u[edge + j + far]) +
                                       (fl::simd::load<Vector>(row - far * lanes) + fl::simd::load<Vector>(row + far * lanes)));
              });
            }
          });
        });
        to = out;
        fl::simd::unroll<high>([&](auto i) __attribute__((always_inline)) {
          if constexpr (i > 0) to = plane.after(to);
          fl::simd::unroll<wide>([&](auto j) __attribute__((always_inline)) { fl::simd::store(to + j * to_line, sum[i * wide + j]); });
        });
        lowest += width, out += width, next_u += width, next_out += width;
      });
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

}  // namespace rsdft
