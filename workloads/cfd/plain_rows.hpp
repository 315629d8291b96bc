// What the solvers do to a row of cells, one cell after the other: what other ways of computing a row are compared with. `c` is the element
// of a row's first cell, `n` the number of its cells.
#pragma once

#include "firstlight/simd.hpp"
#include "sip.hpp"

namespace cfd::inline FL_ROLE {

// Sums over rows.
struct Sums {
  double first = 0, second = 0;
  Sums& operator+=(const Sums& more) {
    first += more.first, second += more.second;
    return *this;
  }
};

struct PlainRows {
  template <class Real, class View>
  static void sip_factor(const RowsOf<Real>& m, const View& f, double alpha, const Point& size, Index k, Index j) {
    factor_row(m, f, alpha, size, k, j);
  }

  // r = b - A x and L q = r; the sum of |r|.
  template <class Real>
  static Sums sip_forward(const RowsOf<Real>& m, const typename SipFactorOf<Real>::View& f, const Real* x, Real* q, Index c, Index n) {
    Sums sums;
    for (const Index end = c + n; c < end; ++c) {
      const Real r = residual(m, x, c);
      sums.first += std::fabs(r);
      q[c] = r * f.lp[c] - f.lb[c] * q[c - m.bottom] - f.ls[c] * q[c - m.south] - f.lw[c] * q[c - 1];
    }
    return sums;
  }

  // U q = q, x += q; from the last cell to the first.
  template <class Real>
  static void sip_backward(const RowsOf<Real>& m, const typename SipFactorOf<Real>::View& f, Real* x, Real* q, Index c, Index n) {
    for (Index at = c + n; at-- > c;) {
      q[at] = q[at] - f.ut[at] * q[at + m.bottom] - f.un[at] * q[at + m.south] - f.ue[at] * q[at + 1];
      x[at] += q[at];
    }
  }

  // Every second cell, from number `first` on, becomes what its equation says; the sum of the |b - A x| that these had.
  // `cached`: another pass was here just before.
  template <class Real>
  static Sums relax(const RowsOf<Real>& m, Real* x, Index c, Index n, Index first, bool /*cached*/) {
    Sums sums;
    for (Index at = c + first; at < c + n; at += 2) {
      const Real r = residual(m, x, at);
      sums.first += std::fabs(r);
      x[at] += r / m.a[P][at];
    }
    return sums;
  }

  // q = A p; the sum of p q.
  template <class Real>
  static Sums product(const RowsOf<Real>& m, const Real* p, Real* q, Index c, Index n) {
    Sums sums;
    for (const Index end = c + n; c < end; ++c) {
      q[c] = m.a[P][c] * p[c] + m.a[W][c] * p[c - 1] + m.a[E][c] * p[c + 1] + m.a[S][c] * p[c - m.south] + m.a[N][c] * p[c + m.south] +
             m.a[B][c] * p[c - m.bottom] + m.a[T][c] * p[c + m.bottom];
      sums.first += p[c] * q[c];
    }
    return sums;
  }

  // x += alpha p, r -= alpha q; the sums of |r| and of r r.
  template <class Real>
  static Sums advance(double alpha, const Real* p, const Real* q, Real* x, Real* r, Index c, Index n) {
    const auto step = static_cast<Real>(alpha);
    Sums sums;
    for (const Index end = c + n; c < end; ++c) {
      x[c] += step * p[c];
      r[c] -= step * q[c];
      sums += {std::fabs(r[c]), r[c] * r[c]};
    }
    return sums;
  }

  // The sums of z r and z q.
  template <class Real>
  static Sums products(const Real* z, const Real* r, const Real* q, Index c, Index n) {
    Sums sums;
    for (const Index end = c + n; c < end; ++c) sums += {z[c] * r[c], z[c] * q[c]};
    return sums;
  }

  // p = z + beta p
  template <class Real>
  static void turn(double beta, const Real* z, Real* p, Index c, Index n) {
    const auto share = static_cast<Real>(beta);
    for (const Index end = c + n; c < end; ++c) p[c] = z[c] + share * p[c];
  }

  // L z = r of incomplete Cholesky, whose diagonal is 1 / `inverse`.
  template <class Real>
  static void ic_forward(const RowsOf<Real>& m, const Real* inverse, const Real* r, Real* z, Index c, Index n) {
    for (const Index end = c + n; c < end; ++c)
      z[c] = (r[c] - m.a[B][c] * z[c - m.bottom] - m.a[S][c] * z[c - m.south]) * inverse[c] - m.a[W][c] * inverse[c] * z[c - 1];
  }

  // L^T z = z; the sum of r z.
  template <class Real>
  static Sums ic_backward(const RowsOf<Real>& m, const Real* inverse, const Real* r, Real* z, Index c, Index n) {
    Sums sums;
    for (Index at = c + n; at-- > c;) {
      z[at] = z[at] - (m.a[T][at] * z[at + m.bottom] + m.a[N][at] * z[at + m.south]) * inverse[at] - m.a[E][at] * inverse[at] * z[at + 1];
      sums.first += r[at] * z[at];
    }
    return sums;
  }

  // Row j of plane k of incomplete Cholesky without fill of what a block itself couples: the inverse of its diagonal.
  template <class Real>
  static void ic_factor(const RowsOf<Real>& m, Real* inverse, Index k, Index j, Index n) {
    const Index first = m.at(k, j);
    const auto square = [](Real a) { return a * a; };
    for (Index i = 0; i < n; ++i) {
      const Index c = first + i;
      Real d = m.a[P][c];
      if (k > 0) d -= square(m.a[B][c]) * inverse[c - m.bottom];
      if (j > 0) d -= square(m.a[S][c]) * inverse[c - m.south];
      if (i > 0) d -= square(m.a[W][c]) * inverse[c - 1];
      inverse[c] = 1 / d;
    }
  }

  // Row (k, j) of the next coarser matrix (multigrid.hpp) of the cells that a block of `size` has. What they couple to elsewhere is a wall.
  template <class Real>
  static void coarsen(const RowsOf<Real>& fine, const Point& size, SystemOf<Real>& coarse, Index k, Index j) {
    for (Index i = 0; i < coarse.b.size()[2]; ++i) {
      Coefficients a{};
      const Point first{2 * k, 2 * j, 2 * i};
      const grid::Box<3> block{{}, size}, cells = grid::intersection(block, grid::Box<3>{first, grid::plus<3>(first, {2, 2, 2})});
      double wall = 0;  // the sum of a row
      grid::each_cell(cells, [&](const Point& x) {
        const Index c = fine.at(x[0], x[1]) + x[2];
        wall += fine.a[P][c];
        for (std::size_t place = W; place <= T; ++place) {
          Point other = x;
          other[side_of(place).d] += side_of(place).step;
          if (!block.contains(other)) continue;
          wall += fine.a[place][c];
          if (!cells.contains(other)) a[place] += fine.a[place][c] / 2;
        }
      });
      a[P] = wall / 2;
      for (std::size_t place = W; place <= T; ++place) a[P] -= a[place];
      for (std::size_t place = P; place <= T; ++place) coarse.a[place][{k, j, i}] = static_cast<Real>(a[place]);
    }
  }

  // Row (k, j) of the coarser grid's right-hand side: the sums of b - A x over the cells of each.
  template <class Real>
  static void restrict_residual(const RowsOf<Real>& m, const Real* x, const Point& size, Real* to, Index k, Index j) {
    std::fill_n(to, (size[2] + 1) / 2, Real{0});
    for (Index at_k = 2 * k; at_k < std::min(2 * k + 2, size[0]); ++at_k)
      for (Index at_j = 2 * j; at_j < std::min(2 * j + 2, size[1]); ++at_j)
        for (Index i = 0; i < size[2]; ++i) to[i / 2] += residual(m, x, m.at(at_k, at_j) + i);
  }

  // To row (k, j) of a grid of `size`, at `to`, comes what linear interpolation between the centres of the coarser grid's cells makes of
  // `from`. Along a dimension that has one cell there is nothing to interpolate.
  template <class Real>
  static void prolong(const Real* from, const RowsOf<Real>& coarse, const Point& size, Real* to, Index k, Index j) {
    constexpr Real most = 0.75, least = 0.25;  // of the nearer cell and of the farther one, along a dimension
    const auto step = [](Index n, Index x) { return n == 1 ? 0 : x % 2 == 0 ? Index{-1} : Index{1}; };
    const Real* here = from + coarse.at(k / 2, j / 2);
    const Index up = step(size[0], k) * coarse.bottom, aside = step(size[1], j) * coarse.south, along = size[2] == 1 ? 0 : 1;
    const auto line = [&](Index i) {
      return most * most * here[i] + most * least * (here[i + up] + here[i + aside]) + least * least * here[i + up + aside];
    };
    const Index pairs = size[2] / 2;
    FL_INDEPENDENT
    for (Index i = 0; i < pairs; ++i) {
      const Real middle = most * line(i);
      to[2 * i] += middle + least * line(i - 1);
      to[2 * i + 1] += middle + least * line(i + 1);
    }
    if (size[2] % 2 == 1) to[2 * pairs] += most * line(pairs) + least * line(pairs - along);
  }
};

}  // namespace cfd::inline FL_ROLE
