// How the replayed run solves its linear systems: by the plain rows of ../plain_rows.hpp, which cfd_solver proves, or cell by cell. Stone's
// blocks and Cholesky's are those of all ranks; multigrid has none.
#pragma once

#include "../replay_cycle.hpp"
#include "replay_gas.hpp"

namespace cfd {

class ReplayedSolvers : public ReplayedGas {
 protected:
  explicit ReplayedSolvers(const State& s) : ReplayedGas(s) {
    for (int rank = 0; rank < s.team.ranks; ++rank) blocks_.push_back(grid::Block<3>(s.block.domain, s.team.ranks, rank).owned);
    for (Field& a : system_.a) a = zeros(cells_);
    for (Field* field : {&system_.b, &correction_}) *field = zeros(cells_);
  }
  void clear() {
    for (Field& a : system_.a) std::fill_n(a.data(), a.layout().elements, 0.0);
    for (Field* field : {&system_.b, &correction_}) std::fill_n(field->data(), field->layout().elements, 0.0);
  }

  void relax(Index sweeps) {
    const Rows m(system_);
    for (Index half = 0; half < 2 * sweeps; ++half)
      for (Index k = 0; k < cells_[0]; ++k)
        for (Index j = 0; j < cells_[1]; ++j) PlainRows::relax(m, origin(correction_), m.at(k, j), cells_[2], (half + k + j) % 2, false);
  }
  // So many sweeps of the pressure's solver.
  void balance_by(Method method, Index sweeps) {
    switch (method) {
      case Method::sip:
        return stone(sweeps);
      case Method::red_black:
        return relax(sweeps);
      case Method::iccg:
        return cholesky(sweeps);
      case Method::mgcg:
        return multigrid(sweeps);
    }
  }

  // Returns the sum of absolute values.
  double sum_of(const Field& r) const {
    double sum = 0;
    grid::each_cell(whole(), [&](const Point& x) { sum += std::fabs(r[x]); });
    return sum;
  }

  System system_;
  Field correction_;

 private:
  void stone(Index sweeps) {
    SipFactor factor(cells_);
    Field q = zeros(cells_);
    const auto each_row = [&](const grid::Box<3>& block, bool backwards, auto row) {
      const Point size = block.sizes();
      Rows m(system_);
      const Index corner = m.at(block.lower[0], block.lower[1]) + block.lower[2];
      for (auto& a : m.a) a += corner;
      m.b += corner;
      SipFactor::View f = factor.view();
      for (double** each : {&f.lw, &f.ls, &f.lb, &f.lp, &f.un, &f.ue, &f.ut}) *each += corner;
      for (Index n = 0; n < size[0] * size[1]; ++n) {
        const Index at = backwards ? size[0] * size[1] - 1 - n : n;
        row(m, f, corner, size, at / size[1], at % size[1]);
      }
    };
    double* x = origin(correction_);
    const auto all = [&](bool backwards, auto row) {
      for (const grid::Box<3>& block : blocks_) each_row(block, backwards, row);
    };
    all(false,
        [&](const Rows& m, const auto& f, Index, const Point& size, Index k, Index j) { factor_row(m, f, params_.alpha, size, k, j); });
    for (Index sweep = 0; sweep < sweeps; ++sweep) {
      all(false, [&](const Rows& m, const auto& f, Index corner, const Point& size, Index k, Index j) {
        PlainRows::sip_forward(m, f, x + corner, origin(q) + corner, m.at(k, j), size[2]);
      });
      all(true, [&](const Rows& m, const auto& f, Index corner, const Point& size, Index k, Index j) {
        PlainRows::sip_backward(m, f, x + corner, origin(q) + corner, m.at(k, j), size[2]);
      });
    }
  }

  // z becomes what a preconditioner makes of r. `flexible`: a direction is made conjugate to the one before by z's own change of the residual
  // (Polak and Ribiere), for the preconditioner is not symmetric.
  template <class Precondition>
  void conjugate(Index sweeps, bool flexible, Precondition precondition) {
    Field p = zeros(cells_), q = zeros(cells_), r = zeros(cells_), z = zeros(cells_);
    const auto dot = [&](const Field& one, const Field& other) {
      double sum = 0;
      grid::each_cell(whole(), [&](const Point& x) { sum += one[x] * other[x]; });
      return sum;
    };
    grid::each_cell(whole(), [&](const Point& x) { r[x] = system_.b[x]; });
    const double first = sum_of(r);
    double before = 0, length = 0;
    for (double rest = first; sweeps > 0 && rest > params_.pressure_share() * first; --sweeps, rest = sum_of(r)) {
      precondition(r, z);
      const bool rounding = flexible && rest <= 32 * DBL_EPSILON * first;  // z may cancel p then
      const double now = dot(z, r), changed = flexible ? -length * dot(z, q) : now, turn = before == 0 || rounding ? 0 : changed / before;
      grid::each_cell(whole(), [&](const Point& x) { p[x] = z[x] + turn * p[x]; });
      grid::each_cell(whole(), [&](const Point& x) {
        const auto times = [&](double a, const Point& y) { return a * p[y]; };
        q[x] = system_.a[P][x] * p[x] + couple(whole(), x, -1, times) + couple(whole(), x, 1, times);
      });
      length = rest > DBL_EPSILON * first ? now / dot(p, q) : 0;
      grid::each_cell(whole(), [&](const Point& x) { correction_[x] += length * p[x], r[x] -= length * q[x]; });
      before = now;
    }
  }
  // The sum of value(coefficient, neighbour) over neighbours in the same block on the lower sides of x, or on the upper ones.
  template <class Value>
  double couple(const grid::Box<3>& block, const Point& x, Index step, Value value) const {
    double sum = 0;
    for (std::size_t place = W; place <= T; ++place) {
      Point next = x;
      next[side_of(place).d] += side_of(place).step;
      if (side_of(place).step == step && block.contains(next)) sum += value(system_.a[place][x], next);
    }
    return sum;
  }

  // Incomplete Cholesky of what each block itself couples, cell by cell.
  void cholesky(Index sweeps) {
    Field pivot = zeros(cells_);
    for (const grid::Box<3>& block : blocks_)
      grid::each_cell(block, [&](const Point& x) {
        pivot[x] = system_.a[P][x] - couple(block, x, -1, [&](double a, const Point& y) { return a * a / pivot[y]; });
      });
    const auto backwards = [](const grid::Box<3>& block, auto visit) {
      for (Index k = block.upper[0]; k-- > block.lower[0];)
        for (Index j = block.upper[1]; j-- > block.lower[1];)
          for (Index i = block.upper[2]; i-- > block.lower[2];) visit(Point{k, j, i});
    };
    conjugate(sweeps, false, [&](const Field& r, Field& z) {
      for (const grid::Box<3>& block : blocks_) {
        const auto over = [&](const Point& x, Index step) {
          return couple(block, x, step, [&](double a, const Point& y) { return a * z[y]; });
        };
        grid::each_cell(block, [&](const Point& x) { z[x] = (r[x] - over(x, -1)) / pivot[x]; });
        backwards(block, [&](const Point& x) { z[x] -= over(x, 1) / pivot[x]; });
      }
    });
  }

  void multigrid(Index sweeps) {
    ReplayedCycle cycle(cells_, shape(), [&](const Point& x) {
      Coefficients a{};
      a[P] = system_.a[P][x];
      for (std::size_t place = W; place <= T; ++place) {
        Point next = x;
        next[side_of(place).d] += side_of(place).step;
        if (whole().contains(next)) a[place] = system_.a[place][x];
      }
      return a;
    });
    conjugate(sweeps, true, [&](const Field& r, Field& z) {
      std::vector<double> b;
      grid::each_cell(whole(), [&](const Point& x) { b.push_back(r[x]); });
      const double* done = cycle(b).data();
      grid::each_cell(whole(), [&](const Point& x) { z[x] = *done++; });
    });
  }
  // The correction of the pressure is 0 at an outlet; faces couple cells by their area over their distance.
  Shape shape() const {
    Shape shape;
    for (std::size_t d = 0; d < 3; ++d) {
      for (const bool upper : {false, true})
        shape.mirror[d][upper ? 1 : 0] = boundary(params_, box_, cells_, {}, d, upper ? 1 : -1).edge == Edge::outlet ? -1 : 1;
      shape.coupling[d] = box_.volume / (box_.spacing[d] * box_.spacing[d]);
    }
    return shape;
  }

  std::vector<grid::Box<3>> blocks_;  // of all ranks
};

}  // namespace cfd
