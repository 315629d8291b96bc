// Rows in vectors. A substitution goes through a row twice: what cells of other rows and the residual contribute, in vectors; then the
// chain along the row, one multiplication and one subtraction a cell.
#pragma once

#include "firstlight/simd.hpp"
#include "plain_rows.hpp"

namespace cfd {

// As many numbers as fit into a vector.
template <class Real>
struct Lanes {
  using V = fl::simd::native<Real>;
  static constexpr Index count = fl::simd::width<Real>;

  static V at(const Real* from) { return fl::simd::load<V>(from); }
  static void put(Real* to, const V& v) { fl::simd::store(to, v); }
  static V magnitude(const V& v) { return v < 0 ? -v : v; }
  static double total(const V& v) {
    const V one[1] = {v};
    return fl::simd::reduce<Real>(one);
  }
};
// And numbers of 32 bits among those of 64.
struct WideLanes : Lanes<double> {
  using Lanes<double>::at, Lanes<double>::put;
  typedef float Narrow __attribute__((vector_size(fl::simd::bytes / 2)));
  static V at(const float* from) { return __builtin_convertvector(fl::simd::load<Narrow>(from), V); }
  static void put(float* to, const V& v) { fl::simd::store(to, __builtin_convertvector(v, Narrow)); }
};

struct VectorRows : PlainRows {
  template <class Real>
  using Of = std::conditional_t<std::is_same_v<Real, double>, WideLanes, Lanes<Real>>;
  static constexpr Index ahead = 64;  // elements that are prefetched: there are more streams than a processor follows by itself

  template <class... Stream>
  static void prefetch(Index i, Stream... streams) {
    (__builtin_prefetch(streams + i), ...);
  }
  template <class Real>
  static auto residual(const RowsOf<Real>& m, const Real* x, Index c) {
    constexpr auto at = [](const Real* from) { return Of<Real>::at(from); };
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
  template <class Real, class View, class Factor>
  static Sums sip_forward(const RowsOf<Real>& m, const View& f, const Real* x, Factor* q, Index c, Index n) {
    using L = Of<Real>;
    constexpr Index lanes = L::count;
    typename L::V sum = {};
    Factor west = q[c - 1];
    Index i = c;
    const Index end = c + n;
    for (; i + lanes <= end; i += lanes) {
      const auto r = residual(m, x, i);
      sum += L::magnitude(r);
      L::put(q + i, r * L::at(f.lp + i) - L::at(f.lb + i) * L::at(q + i - m.bottom) - L::at(f.ls + i) * L::at(q + i - m.south));
      if (i > c) west = chain(f.lw, q, i - lanes, lanes, west);
      for (const Real* a : m.a) __builtin_prefetch(a + i + ahead);
      prefetch(i + ahead, m.b, f.lp, f.lb, f.ls, f.lw, x + m.bottom, q);
    }
    Sums sums;
    for (Index rest = i; rest < end; ++rest) {
      const Real r = cfd::residual(m, x, rest);
      sums.first += std::fabs(r);
      q[rest] = r * f.lp[rest] - f.lb[rest] * q[rest - m.bottom] - f.ls[rest] * q[rest - m.south];
    }
    const Index left = i > c ? i - lanes : c;
    chain(f.lw, q, left, end - left, west);
    sums.first += L::total(sum);
    return sums;
  }

  template <class Real, class View, class Factor>
  static void sip_backward(const RowsOf<Real>& m, const View& f, Real* x, Factor* q, Index c, Index n) {
    using L = Of<Real>;
    constexpr Index lanes = L::count;
    const Index end = c + n;
    Factor east = q[end];
    Index i = end;
    for (; i - lanes >= c; i -= lanes) {
      const Index low = i - lanes;
      L::put(q + low, L::at(q + low) - L::at(f.ut + low) * L::at(q + low + m.bottom) - L::at(f.un + low) * L::at(q + low + m.south));
      if (i < end) {
        east = chain_back(f.ue, q, i, lanes, east);
        L::put(x + i, L::at(x + i) + L::at(q + i));
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
  template <class Real>
  static Sums relax(const RowsOf<Real>& m, Real* x, Index c, Index n, Index first, bool cached) {
    return cached ? relax<true>(m, x, c, n, first) : relax<false>(m, x, c, n, first);
  }
  template <bool cached, class Real>
  static Sums relax(const RowsOf<Real>& m, Real* x, Index c, Index n, Index first) {
    using L = Of<Real>;
    constexpr Index lanes = L::count;
    typename L::V chosen = {}, sum = {}, computed = {};
    for (Index lane = 0; lane < lanes; ++lane) chosen[lane] = lane % 2 == first ? 1 : 0;
    Index i = c;
    for (; i + lanes <= c + n; i += lanes) {
      const auto r = residual(m, x, i) * chosen;
      sum += L::magnitude(r);
      const auto next = L::at(x + i) + r / L::at(m.a[P] + i);
      if (i > c) L::put(x + i - lanes, computed);
      computed = next;
      if constexpr (!cached) {
        for (const Real* a : m.a) __builtin_prefetch(a + i + ahead);
        prefetch(i + ahead, m.b, x + m.bottom);
      }
    }
    if (i > c) L::put(x + i - lanes, computed);
    Sums sums = PlainRows::relax(m, x, i, c + n - i, first, cached);
    sums.first += L::total(sum);
    return sums;
  }

  template <class Real>
  static Sums product(const RowsOf<Real>& m, const Real* p, Real* q, Index c, Index n) {
    using L = Of<Real>;
    constexpr Index lanes = L::count;
    constexpr auto at = [](const Real* from) { return L::at(from); };
    typename L::V sum = {};
    Index i = c;
    for (; i + lanes <= c + n; i += lanes) {
      const auto ap = at(m.a[P] + i) * at(p + i) + at(m.a[W] + i) * at(p + i - 1) + at(m.a[E] + i) * at(p + i + 1) +
                      at(m.a[S] + i) * at(p + i - m.south) + at(m.a[N] + i) * at(p + i + m.south) + at(m.a[B] + i) * at(p + i - m.bottom) +
                      at(m.a[T] + i) * at(p + i + m.bottom);
      L::put(q + i, ap);
      sum += at(p + i) * ap;
      for (const Real* a : m.a) __builtin_prefetch(a + i + ahead);
    }
    Sums sums = PlainRows::product(m, p, q, i, c + n - i);
    sums.first += L::total(sum);
    return sums;
  }

  template <class Real>
  static Sums advance(double alpha, const Real* p, const Real* q, Real* x, Real* r, Index c, Index n) {
    using L = Of<Real>;
    constexpr Index lanes = L::count;
    const auto step = static_cast<Real>(alpha);
    typename L::V sum = {}, squares = {};
    Index i = c;
    for (; i + lanes <= c + n; i += lanes) {
      L::put(x + i, L::at(x + i) + step * L::at(p + i));
      const auto rest = L::at(r + i) - step * L::at(q + i);
      L::put(r + i, rest);
      sum += L::magnitude(rest);
      squares += rest * rest;
    }
    Sums sums = PlainRows::advance(alpha, p, q, x, r, i, c + n - i);
    return sums += {L::total(sum), L::total(squares)};
  }

  template <class Real>
  static Sums products(const Real* z, const Real* r, const Real* q, Index c, Index n) {
    using L = Of<Real>;
    constexpr Index lanes = L::count;
    typename L::V first = {}, second = {};
    Index i = c;
    for (; i + lanes <= c + n; i += lanes) first += L::at(z + i) * L::at(r + i), second += L::at(z + i) * L::at(q + i);
    Sums sums = PlainRows::products(z, r, q, i, c + n - i);
    return sums += {L::total(first), L::total(second)};
  }

  template <class Real>
  static void restrict_residual(const RowsOf<Real>& m, const Real* x, const Real* rest, const Level& fine, Real* to, Index k, Index j) {
    using L = Of<Real>;
    restrict_rows(m, rest, fine, to, k, j, [&](Index c, Index n, int halves) {
      Index i = 0;
      for (; i + L::count <= n; i += L::count) {
        const auto r = residual(m, x, c + i);
        if (halves == 0)
          L::put(to + i, L::at(to + i) + r);
        else
          for (Index lane = 0; lane < L::count; lane += 2) to[(i + lane) / 2] += r[lane] + r[lane + 1];
        for (const Real* a : m.a) __builtin_prefetch(a + c + i + ahead);
      }
      for (; i < n; ++i) to[i >> halves] += cfd::residual(m, x, c + i);
    });
  }

  template <class Real>
  static void turn(double beta, const Real* z, Real* p, Index c, Index n) {
    const auto share = static_cast<Real>(beta);
    FL_INDEPENDENT
    for (Index i = c; i < c + n; ++i) p[i] = z[i] + share * p[i];
  }

  template <class Real>
  static void ic_forward(const RowsOf<Real>& m, const Real* inverse, const Real* r, Real* z, Index c, Index n) {
    const Index end = c + n;
    FL_INDEPENDENT
    for (Index i = c; i < end; ++i) z[i] = (r[i] - m.a[B][i] * z[i - m.bottom] - m.a[S][i] * z[i - m.south]) * inverse[i];
    Real west = z[c - 1];
    for (Index i = c; i < end; ++i) z[i] = west = z[i] - m.a[W][i] * inverse[i] * west;
  }

  template <class Real>
  static Sums ic_backward(const RowsOf<Real>& m, const Real* inverse, const Real* r, Real* z, Index c, Index n) {
    const Index end = c + n;
    FL_INDEPENDENT
    for (Index i = c; i < end; ++i) z[i] = z[i] - (m.a[T][i] * z[i + m.bottom] + m.a[N][i] * z[i + m.south]) * inverse[i];
    Real east = z[end];
    for (Index i = end; i-- > c;) z[i] = east = z[i] - m.a[E][i] * inverse[i] * east;
    using L = Of<Real>;
    typename L::V sum = {};
    Index i = c;
    for (; i + L::count <= end; i += L::count) sum += L::at(r + i) * L::at(z + i);
    Sums sums{L::total(sum)};
    for (; i < end; ++i) sums.first += r[i] * z[i];
    return sums;
  }
};

}  // namespace cfd
