// The passes over a block: the fewest trips through memory that conjugate gradients with the additive multilevel preconditioner take.
//
// C^-1 r = 1/4 sum over the levels k of P_k r_k, r_k = P_k^T r. The value of the finest level is never stored: a row of it is
// interpolated where it is used. rho = r^T C^-1 r = 1/4 sum ||r_k||^2 is known as soon as the residual is restricted.
#pragma once

#include "fem2d.hpp"
#include "kernels.hpp"

namespace fem2d {

inline constexpr double factor = 0.25;  // of every level, at all free nodes

template <class Real>  // of the coarser levels
class Sweep {
 public:
  Sweep(Block& block, fl::Index level, fl::Index base) : b_(block), level_(level), base_(base), w_(std::max(block.x.nx, cells(base)), 2) {
    w_.clear();
  }

  // Row J of the block's part of level k, k >= base.
  Real* coarse_row(fl::Index k, fl::Index j) {
    GridOf<Real>& g = grid(k);
    const fl::Index down = level_ + 1 - k;
    return k > base_ ? g.row(j) : g.row(j + (b_.j0 >> down)) + (b_.i0 >> down);
  }

  fl::Index nx(fl::Index k) const { return b_.x.nx >> (level_ + 1 - k); }
  fl::Index ny(fl::Index k) const { return b_.x.ny >> (level_ + 1 - k); }
  bool dirichlet(fl::Index j, fl::Index last) const { return (b_.bottom && j == 0) || (b_.top && j == last); }

  // --- one row of the finest level -------------------------------------------------------------------------------------

  // s <- w + beta s. The frame of r is accumulated when this is called, and additive again afterwards if `restore` defines how.
  void direction_row(fl::Index j, double beta) {
    double* __restrict s = b_.s.row(j);
    const double* __restrict r = b_.r.row(j);
    if (dirichlet(j, b_.s.ny)) return;  // zero from the start
    double* __restrict t = w_.row(0);
    interpolated(t, j);
    FL_INDEPENDENT
    for (fl::Index i = 0; i <= b_.s.nx; ++i) s[i] = factor * r[i] + t[i] + beta * s[i];
  }

  // w = C^-1 r, row j, into one of three rows that take turns.
  const double* preconditioned_row(fl::Index j) {
    double* __restrict w = w_.row(j % 3);
    if (dirichlet(j, b_.s.ny)) {
      std::fill_n(w, b_.s.nx + 1, 0.0);
      return w;
    }
    interpolated(w, j);
    const double* __restrict r = b_.r.row(j);
    FL_INDEPENDENT
    for (fl::Index i = 0; i <= b_.s.nx; ++i) w[i] += factor * r[i];
    return w;
  }

  // x += alpha s (unless that is to be done later), r -= alpha A s; returns the sum of squares of the new r.
  template <bool x_too = true>
  double update_row(fl::Index j, double alpha) {
    double* __restrict x = b_.x.row(j);
    double* __restrict r = b_.r.row(j);
    const double* __restrict s = b_.s.row(j);
    if (dirichlet(j, b_.s.ny)) return 0;
    apply_row(b_.s, j, [=](fl::Index i, double q) {
      if constexpr (x_too) x[i] += alpha * s[i];
      r[i] -= alpha * q;
    });
    return own_squares(r, j, b_.r.ny, b_.r.nx);
  }

  void update_x_row(fl::Index j, double alpha) {
    double* __restrict x = b_.x.row(j);
    const double* __restrict s = b_.s.row(j);
    FL_INDEPENDENT
    for (fl::Index i = 0; i <= b_.x.nx; ++i) x[i] += alpha * s[i];
  }

  // The same as update_row where q = A s is in memory.
  double update_row(fl::Index j, double alpha, const double* __restrict q) {
    double* __restrict x = b_.x.row(j);
    double* __restrict r = b_.r.row(j);
    const double* __restrict s = b_.s.row(j);
    if (dirichlet(j, b_.s.ny)) return 0;
    FL_INDEPENDENT
    for (fl::Index i = 0; i <= b_.x.nx; ++i) {
      x[i] += alpha * s[i];
      r[i] -= alpha * q[i];
    }
    return own_squares(r, j, b_.r.ny, b_.r.nx);
  }

  // The squares of row j of `last` + 1, without the nodes that other blocks have, too: their additive values are large and cancel, so
  // their squares are taken when they are accumulated.
  template <class Number>
  double own_squares(const Number* row, fl::Index j, fl::Index last, fl::Index nx) const {
    if ((b_.south && j == 0) || (b_.north && j == last)) return 0;
    const fl::Index first = b_.west ? 1 : 0;
    return square_sum(row + first, nx + 1 - first - (b_.east ? 1 : 0));
  }

  double along(fl::Index j) const { return j == 0 || j == b_.s.ny ? 0.5 : 1; }

  // Restricts r to level L row by row, when row j of r is new.
  double restrict_behind(fl::Index j) {
    if (j % 2 == 0 && j != b_.r.ny) return 0;
    const fl::Index target = j / 2;
    const auto from = [&](fl::Index row) -> const double* { return b_.r.row(row); };
    return restricted(level_, target, from);
  }

  // --- the coarser levels ----------------------------------------------------------------------------------------------

  // Level `base` is summed over all blocks: outside of its own part a block adds nothing. Inside, every row is written anew; it may
  // still be needed until then.
  void clear_base() {
    GridOf<Real>& g = grid(base_);
    const fl::Index down = level_ + 1 - base_, i0 = b_.i0 >> down, j0 = b_.j0 >> down;
    for (fl::Index j = 0; j <= g.ny; ++j) {
      const bool part = j >= j0 && j <= j0 + ny(base_);
      std::fill(g.row(j), g.row(j) + (part ? i0 : g.nx + 1), Real(0));
      if (part) std::fill(g.row(j) + i0 + nx(base_) + 1, g.row(j) + g.nx + 1, Real(0));
    }
  }

  // Levels L - 1 .. base of this block from level L; returns the sum of squares of the block's own levels (beyond base).
  double restrict_down() {
    double sum = 0;
    for (fl::Index k = level_ - 1; k >= base_; --k)
      for (fl::Index j = 0; j <= ny(k); ++j) sum += restricted(k, j, [&](fl::Index row) -> const Real* { return coarse_row(k + 1, row); });
    return sum;
  }

  // The levels that every process has as a whole, from the sum of all parts of level `base`; returns their sum of squares.
  double restrict_base() {
    double sum = 0;
    for (fl::Index k = base_; k >= 0; --k) {
      GridOf<Real>& g = grid(k);
      for (fl::Index j = 0; j <= g.ny; ++j) {
        if (j == 0 || j == g.ny) {
          std::fill_n(g.row(j), g.nx + 1, Real(0));
          continue;
        }
        if (k < base_) {
          const GridOf<Real>& fine = grid(k + 1);
          restrict_row(g.row(j), fine.row(2 * j - 1), fine.row(2 * j), fine.row(2 * j + 1), g.nx);
        }
        sum += square_sum(g.row(j), g.nx + 1);
      }
    }
    return sum;
  }

  // v_k <- 1/4 v_k + P v_(k-1), from the coarsest level to level L.
  void prolong() {
    GridOf<Real>& coarsest = grid(0);
    for (fl::Index j = 0; j <= coarsest.ny; ++j)
      for (fl::Index i = 0; i <= coarsest.nx; ++i) coarsest.at(i, j) *= Real(factor);
    for (fl::Index k = 1; k <= level_; ++k) {
      const bool whole = k <= base_;
      GridOf<Real>& g = grid(k);
      for (fl::Index j = 0; j <= g.ny; ++j) {
        if (whole ? j == 0 || j == g.ny : dirichlet(j, g.ny)) continue;
        const auto low = [&](fl::Index row) { return whole ? grid(k - 1).row(row) : coarse_row(k - 1, row); };
        double* __restrict t = w_.row(0);
        interpolate<Real>(t, low(j / 2), low((j + 1) / 2), g.nx, j % 2 != 0);
        Real* __restrict v = g.row(j);
        FL_INDEPENDENT
        for (fl::Index i = 0; i <= g.nx; ++i) v[i] = static_cast<Real>(factor * v[i] + t[i]);
      }
    }
  }

 private:
  GridOf<Real>& grid(fl::Index k) { return levels<Real>(b_)[static_cast<std::size_t>(k)]; }

  void interpolated(double* t, fl::Index j) {
    interpolate<Real>(t, coarse_row(level_, j / 2), coarse_row(level_, (j + 1) / 2), b_.s.nx, j % 2 != 0);
  }

  // Row j of level k from three rows of the level above it; returns its sum of squares where the level is the block's own.
  template <class From>
  double restricted(fl::Index k, fl::Index j, From from) {
    Real* out = coarse_row(k, j);
    if (dirichlet(j, ny(k))) {
      std::fill_n(out, nx(k) + 1, Real(0));
      return 0;
    }
    restrict_row(out, from(2 * j - 1), from(2 * j), from(2 * j + 1), nx(k));
    return k > base_ ? own_squares(out, j, ny(k), nx(k)) : 0;
  }

  Block& b_;
  fl::Index level_, base_;
  Grid w_;
};

}  // namespace fem2d
