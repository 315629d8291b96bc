// (1 - a^2 G H lap) P = R in a basin of any coasts: vertical modes, of each conjugate gradients with a V-cycle (levels.hpp) before them.
#pragma once

#include "levels.hpp"
#include "modes.hpp"

namespace ocean_nlom {

template <class Transport, class Team, class Ways>
class Conjugate {
 public:
  void open(State& s) {
    modes_.emplace(s.p, Ways::weighted);
    levels_.open(s, Ways::masked, Ways::coarse);
    tile_ = fl::Array<double>(s.block.cells().cells());
    direction_ = Cells(levels_.finest().x.size(), levels_.finest().x.halo());
    sums_.resize(static_cast<std::size_t>(s.block.size()[1]));
  }
  void close() { levels_.close(); }
  void prepare(double a) { squared_ = a * a; }

  // `field` contains R, then P, in own cells; from 0 on, so that nothing but R decides what it will be.
  void solve(State& s, grid::Field<double, 3>& field, const Team& team) {
    const fl::In in(phases("solver"));
    to_modes(*modes_, field, tile_.data(), team);
    for (Index m = 0; m < s.p.layers; ++m) {
      levels_.prepare(s.p, squared_ * modes_->squared[static_cast<std::size_t>(m)], team);
      s.iterations[static_cast<std::size_t>(m)] += solve_mode(s.p, tile_.data() + m * field.size()[1] * field.size()[2], team);
    }
    from_modes(*modes_, tile_.data(), field, team);
  }
  const Modes& modes() const { return *modes_; }

 private:
  // What may be left of a mode, a cell: that much of the pressure of the depth in the thinnest layer.
  static double limit(const Params& p) {
    double thinnest = p.depth();
    for (Index k = 0; k < p.layers; ++k) thinnest = std::min(thinnest, p.rest(k));
    return p.tolerance * gravity * p.depth() * std::sqrt(thinnest);
  }
  // `unknown` contains b, then x; returns iterations.
  Index solve_mode(const Params& p, double* unknown, const Team& team) {
    auto& g = levels_.finest();
    const Index across = g.x.size()[2];
    std::fill_n(direction_.data(), direction_.layout().elements, 0.0);
    double rest = add_up(team, [&](Index j, double& sum) {
      const double* w = g.line(g.water, j);
      double *b = g.line(g.b, j), *x = unknown + j * across;
      for (Index i = 0; i < across; ++i) b[i] = w[i] > 0 ? x[i] : 0, x[i] = 0, sum += b[i] * b[i];
    });
    const double enough = std::pow(limit(p), 2) * static_cast<double>(p.nx * p.ny);
    double before = 0;
    Index count = 0;
    for (; rest > enough && count < most_iterations; ++count) {
      levels_(team);
      const double now = add_up(team, [&](Index j, double& sum) {
        const double *z = g.line(g.x, j), *r = g.line(g.b, j);
        for (Index i = 0; i < across; ++i) sum += z[i] * r[i];
      });
      turn(count == 0 ? 0 : now / before, team);
      const double energy = add_up(team, [&](Index j, double& sum) {
        const auto product = levels_.applied(g, direction_, j);
        const double* d = g.line(direction_, j);
        double* q = g.line(g.y, j);
        for (Index i = 0; i < across; ++i) q[i] = product(i), sum += d[i] * q[i];
      });
      const double alpha = now / energy;
      rest = add_up(team, [&](Index j, double& sum) {
        const double *d = g.line(direction_, j), *q = g.line(g.y, j);
        double *x = unknown + j * across, *r = g.line(g.b, j);
        for (Index i = 0; i < across; ++i) x[i] += alpha * d[i], r[i] -= alpha * q[i], sum += r[i] * r[i];
      });
      before = now;
    }
    return count;
  }
  // Next cells, too, whose values the cycle left.
  void turn(double beta, const Team& team) {
    auto& g = levels_.finest();
    const grid::Point<3> size = g.x.size();
    levels_.each_line(g, team, [&](Index line) {
      const auto turned = [&](Index j) {
        const double* z = g.line(g.x, j);
        double* d = g.line(direction_, j);
        for (Index i = -1; i <= size[2]; ++i) d[i] = z[i] + beta * d[i];
      };
      if (line == 0) turned(-1);
      turned(line);
      if (line + 1 == size[1]) turned(size[1]);
    });
  }
  // Adds up the lines in their order, whichever thread computes them, and then the processes.
  template <class Line>
  double add_up(const Team& team, const Line& line) {
    levels_.each_line(levels_.finest(), team, [&](Index j) {
      double sum = 0;
      line(j, sum);
      sums_[static_cast<std::size_t>(j)] = sum;
    });
    double sum = 0;
    for (const double of_line : sums_) sum += of_line;
    fl::add_up(&sum, 1);
    return sum;
  }

  std::optional<Modes> modes_;
  Levels<Transport, Team> levels_;
  fl::Array<double> tile_;
  Cells direction_;
  std::vector<double> sums_;
  double squared_ = 0;
};

}  // namespace ocean_nlom
