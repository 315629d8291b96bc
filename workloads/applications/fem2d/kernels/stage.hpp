// One level of the V-cycle, row by row: damped Jacobi before and after the correction, nothing of it stored.
#pragma once

#include "kernels.hpp"
#include "lines.hpp"

namespace fem2d {

inline constexpr double omega = 0.8;

// One level of the cycle: a block's part of it, or the whole square.
class Stage {
 public:
  struct Borders {
    bool bottom, top, left, right;  // of the unit square
  };

  Stage(Grid& r, Borders borders, std::vector<const Segment*> frame, std::size_t part)
      : r(r),
        nx(r.nx),
        ny(r.ny),
        frame(std::move(frame)),
        part(part),
        before(nx, ny, this->frame),
        after(nx, ny, this->frame),
        borders_(borders),
        z_(nx, 3),
        w_(nx, 3),
        residual_(nx, 3) {
    for (Grid* g : {&z_, &w_, &residual_}) g->clear();
  }

  // The coarser level's correction, and where this level's first node is in it.
  void stand_on(Grid& coarse, fl::Index i, fl::Index j) { coarse_ = &coarse, ci_ = i, cj_ = j; }
  void stand_alone() { coarse_ = nullptr; }

  bool dirichlet(fl::Index j) const { return (borders_.bottom && j == 0) || (borders_.top && j == ny); }

  double inverse_diagonal(fl::Index i) const { return (borders_.left && i == 0) || (borders_.right && i == nx) ? 0.5 : 0.25; }

  // z = omega D^-1 r, and P z_coarse if there is one: a node, and a row (one of three that take turns).
  double z_at(fl::Index i, fl::Index j) {
    if (dirichlet(j)) return 0;
    return before.value(i, j, omega * inverse_diagonal(i) * r.at(i, j) + coarse_at(i, j));
  }

  const double* z_row(fl::Index j) {
    double* __restrict z = z_.row((j + 3) % 3);
    if (j < 0 || j > ny || dirichlet(j)) {
      std::fill_n(z, nx + 1, 0.0);
      return z;
    }
    const double* __restrict from = r.row(j);
    constexpr double d = omega * 0.25;
    if (coarse_ != nullptr) {
      interpolate(z, coarse_->row(cj_ + j / 2) + ci_, coarse_->row(cj_ + (j + 1) / 2) + ci_, nx, j % 2 != 0);
      FL_INDEPENDENT
      for (fl::Index i = 0; i <= nx; ++i) z[i] += d * from[i];
    } else {
      FL_INDEPENDENT
      for (fl::Index i = 0; i <= nx; ++i) z[i] = d * from[i];
    }
    if (borders_.left) z[0] += d * from[0];
    if (borders_.right) z[nx] += d * from[nx];
    before.overwrite(z, j);
    return z;
  }

  // (r - A z)(i, j) of this block's edges.
  double residual_at(fl::Index i, fl::Index j) {
    const double along_x = j == 0 || j == ny ? 0.5 : 1, along_y = i == 0 || i == nx ? 0.5 : 1, c = z_at(i, j);
    double sum = 0;
    if (i > 0) sum += along_x * (c - z_at(i - 1, j));
    if (i < nx) sum += along_x * (c - z_at(i + 1, j));
    if (j > 0) sum += along_y * (c - z_at(i, j - 1));
    if (j < ny) sum += along_y * (c - z_at(i, j + 1));
    return r.at(i, j) - sum;
  }

  // The same for a row whose z and its neighbours' are there.
  void residual_row(double* __restrict out, fl::Index j, const double* below, const double* z, const double* above) const {
    if (dirichlet(j)) {
      std::fill_n(out, nx + 1, 0.0);
      return;
    }
    const double* __restrict from = r.row(j);
    const double along = j == 0 || j == ny ? 0.5 : 1;
    const double down = j == 0 ? 0 : 1, up = j == ny ? 0 : 1;
    FL_INDEPENDENT
    for (fl::Index i = 1; i < nx; ++i)
      out[i] = from[i] - (2 * along + down + up) * z[i] + along * (z[i - 1] + z[i + 1]) + down * below[i] + up * above[i];
    for (const fl::Index i : {fl::Index{0}, nx}) {
      const double inner = z[i == 0 ? 1 : nx - 1];
      out[i] = from[i] - along * (z[i] - inner) - 0.5 * (down * (z[i] - below[i]) + up * (z[i] - above[i]));
    }
  }

  // Computes w = z + omega D^-1 (r - A z) in row j. Call it for one row after the other, from 0 on.
  const double* row(fl::Index j) {
    if (j == 0) {
      previous_ = z_row(-1);
      current_ = z_row(0);
    }
    const double* next = z_row(j + 1);
    double* __restrict w = w_.row(j % 3);
    residual_row(w, j, previous_, current_, next);
    constexpr double d = omega * 0.25;
    FL_INDEPENDENT
    for (fl::Index i = 0; i <= nx; ++i) w[i] = current_[i] + d * w[i];
    if (borders_.left) w[0] += w[0] - current_[0];
    if (borders_.right) w[nx] += w[nx] - current_[nx];
    if (!dirichlet(j)) after.overwrite(w, j);
    previous_ = current_;
    current_ = next;
    return w;
  }

  // R (r - A z) without a correction; put(J, below, mid, above) restricts one row.
  template <class Put>
  void descend(Put put) {
    stand_alone();
    const double *below = z_row(-1), *mid = z_row(0);
    for (fl::Index j = 0; j <= ny + 1; ++j) {
      if (j <= ny) {
        const double* above = z_row(j + 1);
        residual_row(residual_.row(j % 3), j, below, mid, above);
        below = mid;
        mid = above;
      } else {
        std::fill_n(residual_.row(j % 3), nx + 1, 0.0);
      }
      if (j == 0) std::fill_n(residual_.row(2), nx + 1, 0.0);
      if (j % 2 != 0) put(j / 2, residual_.row((j + 1) % 3), residual_.row((j + 2) % 3), residual_.row(j % 3));
    }
  }

  // P z_coarse at one node.
  double coarse_at(fl::Index i, fl::Index j) const {
    if (coarse_ == nullptr) return 0;
    const auto c = [&](fl::Index x, fl::Index y) { return coarse_->at(ci_ + x, cj_ + y); };
    const fl::Index x = i / 2, y = j / 2;
    if (i % 2 != 0 && j % 2 != 0) return 0.5 * (c(x + 1, y) + c(x, y + 1));
    if (i % 2 != 0) return 0.5 * (c(x, y) + c(x + 1, y));
    if (j % 2 != 0) return 0.5 * (c(x, y) + c(x, y + 1));
    return c(x, y);
  }

  Grid& r;
  fl::Index nx, ny;
  std::vector<const Segment*> frame;
  std::size_t part;     // of a link's segments
  Lines before, after;  // z and w on the shared sides

 private:
  Borders borders_;
  Grid* coarse_ = nullptr;
  fl::Index ci_ = 0, cj_ = 0;
  Grid z_, w_, residual_;
  const double *previous_ = nullptr, *current_ = nullptr;
};

}  // namespace fem2d
