// What x and the residuals on the way have to be: each solver once more on the whole grid, cell after cell, from inputs that are computed
// and not read. Ranks matter where a solver is local to blocks: there, too, it is this rank's copy of the whole.
#pragma once

#include <algorithm>
#include <cfloat>

#include "../replay_cycle.hpp"
#include "inputs.hpp"

namespace cfd_solver {

class Replay {
 public:
  // With the diagonals of `ages`, and b times `scale`.
  Replay(const State& s, const fl::ChangeLog& ages, double scale)
      : params_(s.params), extents_(s.block.domain.extents), layout_(extents_, {1, 1, 1}, 1) {
    for (auto* values : {&a_, &inner_})
      for (Values& a : *values) a = zeros();
    b_ = zeros(), x_ = zeros();
    for (std::size_t place = cfd::W; place <= cfd::T; ++place)
      steps_[place] = static_cast<std::size_t>(cfd::side_of(place).step * layout_.stride[cfd::side_of(place).d]);
    for (int rank = 0; rank < s.team.ranks; ++rank) {
      const grid::Box<3> block = grid::Block<3>(s.block.domain, s.team.ranks, rank).owned;
      grid::each_cell(block, [&](const Point& x) { add(x, block, ages, scale, static_cast<Index>(s.block.number(x))); });
    }
    if (params_.kernel == Kernel::sip) stone();
    if (params_.kernel == Kernel::red_black) red_black(s.traits.colours_together);
    if (params_.kernel == Kernel::cg) conjugate_gradients(false);
    if (params_.kernel == Kernel::iccg) conjugate_gradients(true);
    if (params_.kernel == Kernel::multigrid) multigrid(false);
    if (params_.kernel == Kernel::mgcg) multigrid(true);
  }

  const Outcome& outcome() const { return out_; }
  double x(const Point& global) const { return x_[at(global)]; }
  double largest() const {
    double most = 0;
    for (const double v : x_) most = std::max(most, std::fabs(v));
    return most;
  }

 private:
  using Values = std::vector<double>;

  Values zeros() const { return Values(static_cast<std::size_t>(layout_.elements)); }
  std::size_t at(const Point& x) const { return static_cast<std::size_t>(layout_(x)); }
  std::size_t beside(std::size_t c, std::size_t place) const { return c + steps_[place]; }
  void add(const Point& x, const grid::Box<3>& block, const fl::ChangeLog& ages, double scale, Index number) {
    const std::size_t c = at(x);
    cells_.push_back(c);
    colours_[static_cast<std::size_t>((x[0] + x[1] + x[2]) % 2)].push_back(c);
    const cfd::Coefficients a = cfd::coefficients(params_.equation(), extents_, x);
    for (std::size_t place = cfd::P; place <= cfd::T; ++place) {
      Point other = x;
      other[cfd::side_of(place).d] += cfd::side_of(place).step;
      a_[place][c] = a[place];
      inner_[place][c] = block.contains(other) ? a[place] : 0;
    }
    if (const Index changed = ages.of(number, -1); changed >= 0) a_[cfd::P][c] = diagonal(a[cfd::P], changed);
    b_[c] = scale * cfd::source(static_cast<std::uint64_t>(number));
  }
  // The cells forwards or backwards: within a block in the order of memory.
  template <class Visit>
  void each(bool backwards, Visit visit) const {
    if (backwards)
      std::for_each(cells_.rbegin(), cells_.rend(), visit);
    else
      std::for_each(cells_.begin(), cells_.end(), visit);
  }
  double product(const Values& v, std::size_t c) const {
    double sum = 0;
    for (std::size_t place = cfd::P; place <= cfd::T; ++place) sum += a_[place][c] * v[beside(c, place)];
    return sum;
  }
  static double dot(const Values& a, const Values& b) {
    double sum = 0;
    for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
    return sum;
  }
  static double norm(const Values& r) {
    double sum = 0;
    for (const double v : r) sum += std::fabs(v);
    return sum;
  }

  // Whether the last residual is larger than `times` the rounding error of the first one.
  bool left(double times) const { return out_.history.back() > times * DBL_EPSILON * out_.history.front(); }

  // H. L. Stone, SIAM J. Numer. Anal. 5 (1968) 530; in the form of Ferziger and Peric for seven coefficients.
  void stone() {
    using namespace cfd;
    Values l[7], u[7], lp = zeros(), q = zeros(), r = zeros();
    for (const std::size_t place : {W, S, B}) l[place] = zeros();
    for (const std::size_t place : {E, N, T}) u[place] = zeros();
    const double a = params_.alpha;
    for (const std::size_t c : cells_) {
      const std::size_t w = beside(c, W), s = beside(c, S), b = beside(c, B);
      const double un_b = u[N][b], ue_b = u[E][b], ut_b = u[T][b], un_w = u[N][w], ut_w = u[T][w], ue_w = u[E][w];
      const double ue_s = u[E][s], ut_s = u[T][s], un_s = u[N][s];
      const double lb = inner_[B][c] / (1 + a * (un_b + ue_b)), lw = inner_[W][c] / (1 + a * (un_w + ut_w)),
                   ls = inner_[S][c] / (1 + a * (ue_s + ut_s));
      const double p1 = a * (lb * un_b + lw * un_w), p2 = a * (lb * ue_b + ls * ue_s), p3 = a * (lw * ut_w + ls * ut_s);
      lp[c] = 1 / (a_[P][c] + p1 + p2 + p3 - lb * ut_b - lw * ue_w - ls * un_s);
      l[B][c] = lb, l[W][c] = lw, l[S][c] = ls;
      u[N][c] = (inner_[N][c] - p1) * lp[c];
      u[E][c] = (inner_[E][c] - p2) * lp[c];
      u[T][c] = (inner_[T][c] - p3) * lp[c];
    }
    while (true) {
      if (out_.ends_unseen(params_)) return;
      for (const std::size_t c : cells_) r[c] = b_[c] - product(x_, c);
      if (!out_.goes_on(params_, norm(r))) return;
      ++out_.iterations;
      each(false, [&](std::size_t c) {
        double sum = r[c];
        for (const std::size_t place : {W, S, B})
          if (l[place][c] != 0) sum -= l[place][c] * q[beside(c, place)];
        q[c] = sum * lp[c];
      });
      each(true, [&](std::size_t c) {
        for (const std::size_t place : {E, N, T})
          if (inner_[place][c] != 0) q[c] -= u[place][c] * q[beside(c, place)];
        x_[c] += q[c];
      });
    }
  }

  void red_black(bool colours_together) {
    Values r = zeros();
    for (const std::size_t c : cells_) r[c] = b_[c] - product(x_, c);
    const double first = norm(r);
    const auto half = [&](std::size_t colour) {
      double sum = 0;
      for (const std::size_t c : colours_[colour]) {
        const double rest = b_[c] - product(x_, c);
        sum += std::fabs(rest);
        x_[c] += rest / a_[cfd::P][c];
      }
      return sum;
    };
    while (!out_.ends_unseen(params_)) {
      const double red = half(0);  // after the first iteration black cells have no residual
      if (!out_.goes_on(params_, out_.iterations == 0 ? first : red)) {
        if (colours_together) half(1);
        return;
      }
      ++out_.iterations;
      half(1);
    }
  }

  // With the incomplete Cholesky factor of each block that has the matrix's own entries off the diagonal.
  void conjugate_gradients(bool cholesky) {
    using namespace cfd;
    Values r = b_, z = r, p = zeros(), q = zeros(), d = zeros();
    if (cholesky)
      for (const std::size_t c : cells_) {
        d[c] = a_[P][c];
        for (const std::size_t place : {W, S, B})
          if (const double a = inner_[place][c]; a != 0) d[c] -= a * a / d[beside(c, place)];
      }
    const auto precondition = [&] {
      z = r;
      if (!cholesky) return;
      const auto solve = [&](bool backwards) {
        each(backwards, [&](std::size_t c) {
          double sum = backwards ? z[c] * d[c] : z[c];
          for (const std::size_t place : {W, S, B})
            if (const std::size_t side = backwards ? place + 1 : place; inner_[side][c] != 0) sum -= a_[side][c] * z[beside(c, side)];
          z[c] = sum / d[c];
        });
      };
      solve(false);
      solve(true);
    };
    double before = 0;
    while (!out_.ends_unseen(params_) && out_.goes_on(params_, norm(r))) {
      ++out_.iterations;
      precondition();
      const double now = dot(r, z), beta = before == 0 ? 0 : now / before;
      for (std::size_t c = 0; c < p.size(); ++c) p[c] = z[c] + beta * p[c];
      for (const std::size_t c : cells_) q[c] = product(p, c);
      const double alpha = left(1) ? now / dot(p, q) : 0;
      for (std::size_t c = 0; c < p.size(); ++c) x_[c] += alpha * p[c], r[c] -= alpha * q[c];
      before = now;
    }
  }

  // x += z, where z is what a cycle makes of the residual; or conjugate gradients with z for a gradient, whose directions are made conjugate
  // to the one before by z's own change of the residual (Polak and Ribiere).
  void multigrid(bool accelerated) {
    const grid::Box<3> all{{}, extents_};
    cfd::ReplayedCycle cycle(extents_, {.coupling = params_.equation().coupling()}, [&](const Point& x) {
      cfd::Coefficients a{};
      for (std::size_t place = cfd::P; place <= cfd::T; ++place) a[place] = a_[place][at(x)];
      return a;
    });
    Values r = b_, z = zeros(), p = zeros(), q = zeros(), change = zeros();
    const auto precondition = [&] {
      Values b;
      grid::each_cell(all, [&](const Point& x) { b.push_back(r[at(x)]); });
      const double* done = cycle(b).data();
      grid::each_cell(all, [&](const Point& x) { z[at(x)] = *done++; });
    };
    double before = 0;
    while (!out_.ends_unseen(params_) && out_.goes_on(params_, norm(r))) {
      ++out_.iterations;
      precondition();
      const bool conjugate = accelerated && before != 0 && left(32);  // where the residual is mostly rounding, z may cancel p
      const double now = dot(r, z), beta = conjugate ? dot(change, z) / before : 0;
      for (std::size_t c = 0; c < p.size(); ++c) p[c] = z[c] + beta * p[c];
      for (const std::size_t c : cells_) q[c] = product(p, c);
      const double alpha = !accelerated ? 1 : left(1) ? now / dot(p, q) : 0;
      for (std::size_t c = 0; c < p.size(); ++c) {
        change[c] = -alpha * q[c];
        x_[c] += alpha * p[c], r[c] += change[c];
      }
      before = now;
    }
  }

  Params params_;
  Point extents_;
  grid::Layout<3> layout_;
  std::array<std::size_t, 7> steps_{};  // elements from a cell to its neighbours; those before it count from the end of all numbers
  std::vector<std::size_t> cells_, colours_[2];  // elements, block by block in the order of ranks; red ones and black ones
  std::array<Values, 7> a_, inner_;              // the matrix, and what of it couples cells of one block
  Values b_, x_;
  Outcome out_;
};

}  // namespace cfd_solver
