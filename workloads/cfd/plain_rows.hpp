// What the solvers do to a row of cells, one cell after the other: what other ways of computing a row are compared with. `c` is the element
// of a row's first cell, `n` the number of its cells.
#pragma once

#include "firstlight/simd.hpp"
#include "grids.hpp"
#include "sip.hpp"

namespace cfd {

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

  // Solves the equation of every second cell, from number `first` on. Returns the sum of the |b - A x| that these had.
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

  // Row (k, j) of the next coarser matrix (multigrid.hpp). Faces between cells that are joined across them let through half of what their
  // parts do, for centres lie twice as far apart; the others all of it. The sink at walls is the sum of a row, which has no coefficients
  // beyond the grid.
  template <class Real>
  static void coarsen(const RowsOf<Real>& fine, const Level& level, const Mirror& mirror, SystemOf<Real>& coarse, Index k, Index j) {
    const Index n = level.size()[2] + level.beyond[2], odd = level.odd[2], cells = coarse.b.size()[2];
    const int halves = level.by[2] ? 1 : 0;
    std::array<Real*, 7> to;
    for (std::size_t place = P; place <= T; ++place) std::fill_n(to[place] = &coarse.a[place][{k, j, 0}], cells, Real{0});
    const grid::Box<3> whole = level.whole(), rows = level.parts({k, j, 0});
    grid::each_cell(grid::Box<3>{rows.lower, {rows.upper[0], rows.upper[1], rows.lower[2] + 1}}, [&](const Point& row) {
      const Index c = fine.at(row[0], row[1]);
      std::array<Real, 7> through{};  // the share of a face that is one of the coarse cell's, too
      for (std::size_t place = W; place <= T; ++place) {
        const auto [d, step] = side_of(place);
        const Index beside = row[d] + step;
        if (d == 2 || beside < rows.lower[d] || beside >= rows.upper[d]) through[place] = level.by[d] ? 0.5 : 1;
      }
      const auto wall_share = [&](Index i) { return static_cast<Real>(level.wall_share(mirror, {row[0], row[1], i})); };
      const auto sum = [&](Index i) {
        Real all = 0;
        for (const Real* a : fine.a) all += a[c + i];
        return all;
      };
      const Real inner = wall_share(whole.lower[2] - 1);
      const auto add = [&](Index x, Index i, bool west, bool east) {
        to[P][x] += inner * sum(i);
        for (std::size_t place = S; place <= T; ++place) to[place][x] += through[place] * fine.a[place][c + i];
        if (west) to[W][x] += through[W] * fine.a[W][c + i];
        if (east) to[E][x] += through[E] * fine.a[E][c + i];
      };
      const Index pairs = halves == 0 ? 0 : (n - odd) / 2;
      for (Index x = 0; x < pairs; ++x) {
        add(x, odd + 2 * x, true, false);
        add(x, odd + 2 * x + 1, false, true);
      }
      for (Index i = odd + 2 * pairs; i < n; ++i) add((i - odd) >> halves, i, true, true);
      const auto at_end = [&](Index i) {
        if (i >= odd && i < n) to[P][(i - odd) >> halves] += (wall_share(i) - inner) * sum(i);
      };
      at_end(whole.lower[2]);
      if (whole.size(2) > 1) at_end(whole.upper[2] - 1);
    });
    for (std::size_t place = W; place <= T; ++place)
      for (Index i = 0; i < cells; ++i) to[P][i] -= to[place][i];
  }

  // Row (k, j) of the coarser grid's right-hand side: the sums of b - A x over the cells of each. `rest`: that of cells of other blocks.
  template <class Real>
  static void restrict_residual(const RowsOf<Real>& m, const Real* x, const Real* rest, const Level& fine, Real* to, Index k, Index j) {
    restrict_rows(m, rest, fine, to, k, j, [&](Index c, Index n, int halves) {
      for (Index i = 0; i < n; ++i) to[i >> halves] += residual(m, x, c + i);
    });
  }
  // add(c, n, halves): to the row's sums what n cells from element c on have; each belongs to the sum with its number, or with half of it.
  template <class Real, class Add>
  static void restrict_rows(const RowsOf<Real>& m, const Real* rest, const Level& fine, Real* to, Index k, Index j, Add add) {
    const Index n = fine.size()[2], odd = fine.odd[2], beyond = fine.beyond[2];
    const int halves = fine.by[2] ? 1 : 0;
    const grid::Box<3> parts = fine.parts({k, j, 0});
    std::fill_n(to, fine.next_size()[2], Real{0});
    for (Index at_k = parts.lower[0]; at_k < parts.upper[0]; ++at_k)
      for (Index at_j = parts.lower[1]; at_j < parts.upper[1]; ++at_j) {
        const Index c = m.at(at_k, at_j);
        const bool own = at_k < fine.size()[0] && at_j < fine.size()[1];
        if (own) add(c + odd, n - odd, halves);
        for (Index i = own ? n : odd; i < n + beyond; ++i) to[(i - odd) >> halves] += rest[c + i];
      }
  }

  // To row (k, j) of a grid, at `to`, comes what linear interpolation between the centres of the coarser grid's cells makes of `from`.
  // Along a dimension in which no cells were joined there is nothing to interpolate.
  template <class Real>
  static void prolong(const Real* from, const RowsOf<Real>& coarse, const Level& fine, Real* to, Index k, Index j) {
    struct Between {
      Index nearer, farther;
      Real most, least;  // the weights of these
    };
    const auto between = [&](std::size_t d, Index x) -> Between {
      const Index nearer = fine.coarse(d, x);
      if (!fine.by[d]) return {nearer, nearer, 1, 0};
      return {nearer, nearer + ((x + fine.odd[d]) % 2 == 0 ? -1 : 1), 0.75, 0.25};
    };
    const Between up = between(0, k), aside = between(1, j);
    const Real *here = from + coarse.at(up.nearer, aside.nearer), *beside = from + coarse.at(up.nearer, aside.farther),
               *above = from + coarse.at(up.farther, aside.nearer), *across = from + coarse.at(up.farther, aside.farther);
    const Real weights[] = {up.most * aside.most, up.most * aside.least, up.least * aside.most, up.least * aside.least};
    const auto line = [&](Index i) {
      return weights[0] * here[i] + weights[1] * beside[i] + weights[2] * above[i] + weights[3] * across[i];
    };
    const Index n = fine.size()[2], odd = fine.odd[2], pairs = (n - odd) / 2;
    if (!fine.by[2]) {
      FL_INDEPENDENT
      for (Index i = 0; i < n; ++i) to[i] += line(i);
      return;
    }
    constexpr Real most = 0.75, least = 0.25;
    if (odd == 1) to[0] += most * line(-1) + least * line(0);
    Real* even = to + odd;
    FL_INDEPENDENT
    for (Index i = 0; i < pairs; ++i) {
      const Real middle = most * line(i);
      even[2 * i] += middle + least * line(i - 1);
      even[2 * i + 1] += middle + least * line(i + 1);
    }
    if ((n - odd) % 2 == 1) even[2 * pairs] += most * line(pairs) + least * line(pairs - 1);
  }
};

}  // namespace cfd
