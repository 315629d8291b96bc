// What x and the residuals on the way have to be: each solver once more on the whole grid, cell after cell, from inputs that are computed
// and not read. Ranks matter where a solver is local to blocks: there, too, it is this rank's copy of the whole.
#pragma once

#include "inputs.hpp"

namespace cfd_solver::inline FL_ROLE {

class Replay {
 public:
  // With the diagonals of `ages`, and b times `scale`.
  Replay(const State& s, const fl::Ages& ages, double scale)
      : params_(s.params), extents_(s.block.domain.extents), layout_(extents_, {1, 1, 1}, 1) {
    for (auto& a : a_) a = zeros();
    b_ = zeros(), x_ = zeros();
    for (int rank = 0; rank < s.team.ranks; ++rank) blocks_.push_back(grid::Block<3>(s.block.domain, s.team.ranks, rank).owned);
    each_cell([&](const Point& x, std::size_t c) {
      const std::uint64_t number = s.block.number(x);
      const cfd::Coefficients a = cfd::coefficients(params_.problem, extents_, x);
      for (std::size_t place = cfd::P; place <= cfd::T; ++place) a_[place][c] = a[place];
      const Index changed = ages.of(static_cast<Index>(number), -1);
      if (changed >= 0) a_[cfd::P][c] = diagonal(a[cfd::P], changed);
      b_[c] = scale * cfd::source(number);
    });
    if (params_.kernel == Kernel::sip) stone();
    if (params_.kernel == Kernel::red_black) red_black(s.traits.colours_together);
    if (params_.kernel == Kernel::cg) conjugate_gradients(false);
    if (params_.kernel == Kernel::iccg) conjugate_gradients(true);
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
  std::size_t beside(std::size_t c, std::size_t place) const {
    const auto [d, step] = cfd::side_of(place);
    return c + static_cast<std::size_t>(step * layout_.stride[d]);
  }
  template <class Visit>
  void each_cell(Visit visit) const {
    grid::each_cell(grid::Box<3>{{}, extents_}, [&](const Point& x) { visit(x, at(x)); });
  }
  // Blocks one after the other; `visit` also learns which couplings stay within the block.
  template <class Visit>
  void each_in_blocks(bool backwards, Visit visit) const {
    for (const grid::Box<3>& block : blocks_)
      grid::each_cell(block, [&](Point x) {
        if (backwards) x = grid::minus<3>(grid::plus<3>(block.lower, grid::minus<3>(block.upper, {1, 1, 1})), x);
        visit(x, at(x), block);
      });
  }
  double coupled(const Point& x, const grid::Box<3>& block, std::size_t place) const {
    const auto [d, step] = cfd::side_of(place);
    Point other = x;
    other[d] += step;
    return block.contains(other) ? a_[place][at(x)] : 0;
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

  // H. L. Stone, SIAM J. Numer. Anal. 5 (1968) 530; in the form of Ferziger and Peric for seven coefficients.
  void stone() {
    using namespace cfd;
    Values l[7], u[7], lp = zeros(), q = zeros(), r = zeros();
    for (const std::size_t place : {W, S, B}) l[place] = zeros();
    for (const std::size_t place : {E, N, T}) u[place] = zeros();
    const double a = params_.alpha;
    each_in_blocks(false, [&](const Point& x, std::size_t c, const grid::Box<3>& block) {
      const std::size_t w = beside(c, W), s = beside(c, S), b = beside(c, B);
      const double un_b = u[N][b], ue_b = u[E][b], ut_b = u[T][b], un_w = u[N][w], ut_w = u[T][w], ue_w = u[E][w];
      const double ue_s = u[E][s], ut_s = u[T][s], un_s = u[N][s];
      const double lb = coupled(x, block, B) / (1 + a * (un_b + ue_b)), lw = coupled(x, block, W) / (1 + a * (un_w + ut_w)),
                   ls = coupled(x, block, S) / (1 + a * (ue_s + ut_s));
      const double p1 = a * (lb * un_b + lw * un_w), p2 = a * (lb * ue_b + ls * ue_s), p3 = a * (lw * ut_w + ls * ut_s);
      lp[c] = 1 / (a_[P][c] + p1 + p2 + p3 - lb * ut_b - lw * ue_w - ls * un_s);
      l[B][c] = lb, l[W][c] = lw, l[S][c] = ls;
      u[N][c] = (coupled(x, block, N) - p1) * lp[c];
      u[E][c] = (coupled(x, block, E) - p2) * lp[c];
      u[T][c] = (coupled(x, block, T) - p3) * lp[c];
    });
    while (true) {
      if (out_.ends_unseen(params_)) return;
      each_cell([&](const Point&, std::size_t c) { r[c] = b_[c] - product(x_, c); });
      if (!out_.goes_on(params_, norm(r))) return;
      ++out_.iterations;
      each_in_blocks(false, [&](const Point&, std::size_t c, const grid::Box<3>&) {
        double sum = r[c];
        for (const std::size_t place : {W, S, B})
          if (l[place][c] != 0) sum -= l[place][c] * q[beside(c, place)];
        q[c] = sum * lp[c];
      });
      each_in_blocks(true, [&](const Point& x, std::size_t c, const grid::Box<3>& block) {
        for (const std::size_t place : {E, N, T})
          if (coupled(x, block, place) != 0) q[c] -= u[place][c] * q[beside(c, place)];
        x_[c] += q[c];
      });
    }
  }

  void red_black(bool colours_together) {
    Values r = zeros();
    each_cell([&](const Point&, std::size_t c) { r[c] = b_[c] - product(x_, c); });
    const double first = norm(r);
    const auto half = [&](Index colour) {
      double sum = 0;
      each_cell([&](const Point& x, std::size_t c) {
        if ((x[0] + x[1] + x[2]) % 2 != colour) return;
        const double rest = b_[c] - product(x_, c);
        sum += std::fabs(rest);
        x_[c] += rest / a_[cfd::P][c];
      });
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
      each_in_blocks(false, [&](const Point& x, std::size_t c, const grid::Box<3>& block) {
        d[c] = a_[P][c];
        for (const std::size_t place : {W, S, B})
          if (const double a = coupled(x, block, place); a != 0) d[c] -= a * a / d[beside(c, place)];
      });
    const auto precondition = [&] {
      z = r;
      if (!cholesky) return;
      const auto solve = [&](bool backwards) {
        each_in_blocks(backwards, [&](const Point& x, std::size_t c, const grid::Box<3>& block) {
          double sum = backwards ? z[c] * d[c] : z[c];
          for (const std::size_t place : {W, S, B})
            if (const std::size_t side = backwards ? place + 1 : place; coupled(x, block, side) != 0)
              sum -= a_[side][c] * z[beside(c, side)];
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
      each_cell([&](const Point&, std::size_t c) { q[c] = product(p, c); });
      const double alpha = now / dot(p, q);
      for (std::size_t c = 0; c < p.size(); ++c) x_[c] += alpha * p[c], r[c] -= alpha * q[c];
      before = now;
    }
  }

  Params params_;
  Point extents_;
  grid::Layout<3> layout_;
  std::vector<grid::Box<3>> blocks_;  // of all ranks, in global coordinates
  Values a_[7], b_, x_;
  Outcome out_;
};

}  // namespace cfd_solver::inline FL_ROLE
