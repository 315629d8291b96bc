// Rows in vectors. A substitution goes through a row twice: what cells of other rows and the residual contribute, in vectors; then the
// chain along the row, one multiplication and one subtraction a cell.
#pragma once

#include "firstlight/simd.hpp"
#include "plain_rows.hpp"

namespace cfd::inline FL_ROLE {

struct VectorRows : PlainRows {
  using V = fl::simd::native<double>;
  static constexpr Index lanes = fl::simd::width<double>;
  static constexpr Index ahead = 64;  // elements that memory is asked for ahead of time: more streams than a processor follows by itself

  static V at(const double* from) { return fl::simd::load<V>(from); }
  static void put(double* to, const V& v) { fl::simd::store(to, v); }

  // As many numbers of 32 bits.
  typedef float Narrow __attribute__((vector_size(fl::simd::bytes / 2)));
  static V at(const float* from) { return __builtin_convertvector(fl::simd::load<Narrow>(from), V); }
  static void put(float* to, const V& v) { fl::simd::store(to, __builtin_convertvector(v, Narrow)); }

  template <class... Stream>
  static void prefetch(Index i, Stream... streams) {
    (__builtin_prefetch(streams + i), ...);
  }
  static V magnitude(const V& v) { return v < 0 ? -v : v; }
  static double total(const V& v) {
    const V one[1] = {v};
    return fl::simd::reduce<double>(one);
  }
  static V residual(const Rows& m, const double* x, Index c) {
    return at(m.b + c) - at(m.a[P] + c) * at(x + c) - at(m.a[W] + c) * at(x + c - 1) - at(m.a[E] + c) * at(x + c + 1) -
           at(m.a[S] + c) * at(x + c - m.south) - at(m.a[N] + c) * at(x + c + m.south) - at(m.a[B] + c) * at(x + c - m.bottom) -
           at(m.a[T] + c) * at(x + c + m.bottom);
  }

  // The chain along a row, eastwards: q = q - west_factor q_W. Returns the last q.
  template <class Real>
  [[gnu::always_inline]] static Real chain(const Real* factor, Real* q, Index first, Index count, Real west) {
    for (Index i = first; i < first + count; ++i) q[i] = west = q[i] - factor[i] * west;
    return west;
  }
  // And westwards, from the last of the cells on.
  template <class Real>
  [[gnu::always_inline]] static Real chain_back(const Real* factor, Real* q, Index first, Index count, Real east) {
    for (Index i = first + count; i-- > first;) q[i] = east = q[i] - factor[i] * east;
    return east;
  }

  // The chain is one vector behind, so that both are under way at a time: it waits for itself, the vectors wait for memory.
  template <class View, class Real>
  static Sums sip_forward(const Rows& m, const View& f, const double* x, Real* q, Index c, Index n) {
    V sum = {};
    Real west = q[c - 1];
    Index i = c;
    const Index end = c + n;
    for (; i + lanes <= end; i += lanes) {
      const V r = residual(m, x, i);
      sum += magnitude(r);
      put(q + i, r * at(f.lp + i) - at(f.lb + i) * at(q + i - m.bottom) - at(f.ls + i) * at(q + i - m.south));
      if (i > c) west = chain(f.lw, q, i - lanes, lanes, west);
      for (const double* a : m.a) __builtin_prefetch(a + i + ahead);
      prefetch(i + ahead, m.b, f.lp, f.lb, f.ls, f.lw, x + m.bottom, q);
    }
    Sums sums;
    for (Index rest = i; rest < end; ++rest) {
      const double r = cfd::residual(m, x, rest);
      sums.first += std::fabs(r);
      q[rest] = r * f.lp[rest] - f.lb[rest] * q[rest - m.bottom] - f.ls[rest] * q[rest - m.south];
    }
    const Index left = i > c ? i - lanes : c;
    chain(f.lw, q, left, end - left, west);
    sums.first += total(sum);
    return sums;
  }

  template <class View, class Real>
  static void sip_backward(const Rows& m, const View& f, double* x, Real* q, Index c, Index n) {
    const Index end = c + n;
    Real east = q[end];
    Index i = end;
    for (; i - lanes >= c; i -= lanes) {
      const Index low = i - lanes;
      put(q + low, at(q + low) - at(f.ut + low) * at(q + low + m.bottom) - at(f.un + low) * at(q + low + m.south));
      if (i < end) {
        east = chain_back(f.ue, q, i, lanes, east);
        fl::simd::store(x + i, at(x + i) + at(q + i));
      }
      prefetch(low - ahead, f.ut, f.un, f.ue, q, x);
    }
    for (Index rest = c; rest < i; ++rest) q[rest] = q[rest] - f.ut[rest] * q[rest + m.bottom] - f.un[rest] * q[rest + m.south];
    const Index right = i < end ? i + lanes : end;
    chain_back(f.ue, q, c, right - c, east);
    for (Index rest = c; rest < right; ++rest) x[rest] += q[rest];
  }

  // All cells are computed, and those of the other colour get 0 times the result. A vector is stored once the next one is read: a load that
  // begins in what was just stored would wait for it.
  static Sums relax(const Rows& m, double* x, Index c, Index n, Index first, bool cached) {
    return cached ? relax<true>(m, x, c, n, first) : relax<false>(m, x, c, n, first);
  }
  template <bool cached>
  static Sums relax(const Rows& m, double* x, Index c, Index n, Index first) {
    V chosen;
    for (Index lane = 0; lane < lanes; ++lane) chosen[lane] = lane % 2 == first ? 1 : 0;
    V sum = {}, computed = {};
    Index i = c;
    for (; i + lanes <= c + n; i += lanes) {
      const V r = residual(m, x, i) * chosen;
      sum += magnitude(r);
      const V next = at(x + i) + r / at(m.a[P] + i);
      if (i > c) fl::simd::store(x + i - lanes, computed);
      computed = next;
      if constexpr (!cached) {
        for (const double* a : m.a) __builtin_prefetch(a + i + ahead);
        prefetch(i + ahead, m.b, x + m.bottom);
      }
    }
    if (i > c) fl::simd::store(x + i - lanes, computed);
    Sums sums = PlainRows::relax(m, x, i, c + n - i, first, cached);
    sums.first += total(sum);
    return sums;
  }

  static Sums product(const Rows& m, const double* p, double* q, Index c, Index n) {
    V sum = {};
    Index i = c;
    for (; i + lanes <= c + n; i += lanes) {
      const V ap = at(m.a[P] + i) * at(p + i) + at(m.a[W] + i) * at(p + i - 1) + at(m.a[E] + i) * at(p + i + 1) +
                   at(m.a[S] + i) * at(p + i - m.south) + at(m.a[N] + i) * at(p + i + m.south) + at(m.a[B] + i) * at(p + i - m.bottom) +
                   at(m.a[T] + i) * at(p + i + m.bottom);
      fl::simd::store(q + i, ap);
      sum += at(p + i) * ap;
      for (const double* a : m.a) __builtin_prefetch(a + i + ahead);
    }
    Sums sums = PlainRows::product(m, p, q, i, c + n - i);
    sums.first += total(sum);
    return sums;
  }

  static Sums advance(double alpha, const double* p, const double* q, double* x, double* r, Index c, Index n) {
    V sum = {}, squares = {};
    Index i = c;
    for (; i + lanes <= c + n; i += lanes) {
      fl::simd::store(x + i, at(x + i) + alpha * at(p + i));
      const V rest = at(r + i) - alpha * at(q + i);
      fl::simd::store(r + i, rest);
      sum += magnitude(rest);
      squares += rest * rest;
    }
    Sums sums = PlainRows::advance(alpha, p, q, x, r, i, c + n - i);
    return sums += {total(sum), total(squares)};
  }

  static Sums products(const double* z, const double* r, const double* q, Index c, Index n) {
    V first = {}, second = {};
    Index i = c;
    for (; i + lanes <= c + n; i += lanes) first += at(z + i) * at(r + i), second += at(z + i) * at(q + i);
    Sums sums = PlainRows::products(z, r, q, i, c + n - i);
    return sums += {total(first), total(second)};
  }

  static void restrict_residual(const Rows& m, const double* x, const Point& size, double* to, Index k, Index j) {
    std::fill_n(to, (size[2] + 1) / 2, 0.0);
    for (Index at_k = 2 * k; at_k < std::min(2 * k + 2, size[0]); ++at_k)
      for (Index at_j = 2 * j; at_j < std::min(2 * j + 2, size[1]); ++at_j) {
        const Index c = m.at(at_k, at_j);
        Index i = 0;
        for (; i + lanes <= size[2]; i += lanes) {
          const V r = residual(m, x, c + i);
          for (Index lane = 0; lane < lanes; lane += 2) to[(i + lane) / 2] += r[lane] + r[lane + 1];
          for (const double* a : m.a) __builtin_prefetch(a + c + i + ahead);
        }
        for (; i < size[2]; ++i) to[i / 2] += cfd::residual(m, x, c + i);
      }
  }

  static void turn(double beta, const double* z, double* p, Index c, Index n) {
    FL_INDEPENDENT
    for (Index i = c; i < c + n; ++i) p[i] = z[i] + beta * p[i];
  }

  static void ic_forward(const Rows& m, const double* inverse, const double* r, double* z, Index c, Index n) {
    const Index end = c + n;
    FL_INDEPENDENT
    for (Index i = c; i < end; ++i) z[i] = (r[i] - m.a[B][i] * z[i - m.bottom] - m.a[S][i] * z[i - m.south]) * inverse[i];
    double west = z[c - 1];
    for (Index i = c; i < end; ++i) z[i] = west = z[i] - m.a[W][i] * inverse[i] * west;
  }

  static Sums ic_backward(const Rows& m, const double* inverse, const double* r, double* z, Index c, Index n) {
    const Index end = c + n;
    FL_INDEPENDENT
    for (Index i = c; i < end; ++i) z[i] = z[i] - (m.a[T][i] * z[i + m.bottom] + m.a[N][i] * z[i + m.south]) * inverse[i];
    double east = z[end];
    for (Index i = end; i-- > c;) z[i] = east = z[i] - m.a[E][i] * inverse[i] * east;
    V sum = {};
    Index i = c;
    for (; i + lanes <= end; i += lanes) sum += at(r + i) * at(z + i);
    Sums sums{total(sum)};
    for (; i < end; ++i) sums.first += r[i] * z[i];
    return sums;
  }
};

}  // namespace cfd::inline FL_ROLE
