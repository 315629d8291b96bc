// The multigrid cycle of the whole grid, plainly: what multigrid.hpp has to compute on any number of processes, cell by cell from its
// definition, without blocks, halos, rows or two colours at once.
#pragma once

#include <vector>

#include "system.hpp"

namespace cfd {

class ReplayedCycle {
 public:
  // a(x): the coefficients of a cell; 0 where there is no neighbour.
  template <class Matrix>
  ReplayedCycle(const Point& size, const Shape& shape, Matrix a) : mirror_(shape.mirror) {
    grids_.push_back(Grid(size, shape.coupling));
    each_cell(grids_[0], [&](const Point& x) { grids_[0].a[number(grids_[0], x)] = a(x); });
    while (grids_.back().has_coarser()) grids_.push_back(coarser(grids_.back()));
  }
  // In the order of memory. Returns about A^-1 b.
  const std::vector<double>& operator()(const std::vector<double>& b) {
    grids_[0].b = b;
    descend(0);
    return grids_[0].x;
  }

 private:
  struct Grid {
    Point size;
    Coupling coupling;
    std::array<bool, 3> joined{};  // along these two cells become one
    std::vector<Coefficients> a;
    std::vector<double> b, x;

    Grid(const Point& size, const Coupling& coupling) : size(size), coupling(coupling) {
      const auto cells = static_cast<std::size_t>(size[0] * size[1] * size[2]);
      a.resize(cells), b.resize(cells), x.resize(cells);
      double most = 0;
      for (std::size_t d = 0; d < 3; ++d)
        if (size[d] > 1) most = std::max(most, coupling[d]);
      for (std::size_t d = 0; d < 3; ++d) joined[d] = size[d] > 1 && coupling[d] >= 0.4 * most;
    }
    // Whether a coarser one follows: not where there are two cells or one along each dimension, all alike coupled.
    bool has_coarser() const {
      for (std::size_t d = 0; d < 3; ++d)
        if (size[d] > 2 || (size[d] == 2 && !joined[d])) return true;
      return false;
    }
    Point coarse(Point x) const {
      for (std::size_t d = 0; d < 3; ++d)
        if (joined[d]) x[d] /= 2;
      return x;
    }
  };

  template <class Visit>
  static void each_cell(const Grid& g, Visit visit) {
    grid::each_cell(grid::Box<3>{{}, g.size}, visit);
  }
  static std::size_t number(const Grid& g, const Point& x) {
    return static_cast<std::size_t>((x[0] * g.size[1] + x[1]) * g.size[2] + x[2]);
  }
  static Point beside(Point x, std::size_t place) {
    x[side_of(place).d] += side_of(place).step;
    return x;
  }

  // The sink at a wall of a cell: the sum of its row. Where cells are joined across the wall its middle is twice as far away; where a cell has
  // several walls each takes as its dimension is coupled.
  double of_walls(const Grid& fine, const Point& x) const {
    double sum = fine.a[number(fine, x)][P], halved = 0, all = 0;
    for (std::size_t place = W; place <= T; ++place) {
      sum += fine.a[number(fine, x)][place];
      const auto [d, step] = side_of(place);
      const Index at = beside(x, place)[d];
      if ((at >= 0 && at < fine.size[d]) || mirror_[d][step > 0 ? 1 : 0] > 0) continue;
      all += fine.coupling[d];
      if (fine.joined[d]) halved += fine.coupling[d];
    }
    return sum * (all > 0 ? 1 - 0.5 * halved / all : 0.5);
  }
  Grid coarser(const Grid& fine) const {
    Point size = fine.size;
    Coupling coupling = fine.coupling;
    for (std::size_t d = 0; d < 3; ++d)
      if (fine.joined[d]) size[d] = (size[d] + 1) / 2, coupling[d] /= 4;
    Grid g(size, coupling);
    each_cell(fine, [&](const Point& x) {
      const Coefficients& a = fine.a[number(fine, x)];
      Coefficients& to = g.a[number(g, fine.coarse(x))];
      to[P] += of_walls(fine, x);
      for (std::size_t place = W; place <= T; ++place) {
        if (a[place] == 0 || fine.coarse(beside(x, place)) == fine.coarse(x)) continue;
        const double through = fine.joined[side_of(place).d] ? a[place] / 2 : a[place];
        to[place] += through, to[P] -= through;
      }
    });
    return g;
  }

  static double residual(const Grid& g, const Point& x) {
    const Coefficients& a = g.a[number(g, x)];
    double rest = g.b[number(g, x)] - a[P] * g.x[number(g, x)];
    for (std::size_t place = W; place <= T; ++place)
      if (a[place] != 0) rest -= a[place] * g.x[number(g, beside(x, place))];
    return rest;
  }
  static void relax(Grid& g, Index colour) {
    each_cell(g, [&](const Point& x) {
      if ((x[0] + x[1] + x[2] + colour) % 2 != 0) return;
      g.x[number(g, x)] += residual(g, x) / g.a[number(g, x)][P];
    });
  }
  // Between the centres of coarse cells; what is beyond the grid is what its side makes of what is within.
  double interpolated(const Grid& coarse, const Grid& fine, const Point& x) const {
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      Point from = fine.coarse(x);
      double weight = 1;
      for (std::size_t d = 0; d < 3; ++d) {
        const bool far = (corner >> d & 1) != 0;
        if (!fine.joined[d]) {
          weight *= far ? 0 : 1;
          continue;
        }
        weight *= far ? 0.25 : 0.75;
        if (!far) continue;
        from[d] += x[d] % 2 == 0 ? -1 : 1;
        if (from[d] >= 0 && from[d] < coarse.size[d]) continue;
        weight *= mirror_[d][from[d] < 0 ? 0 : 1];
        from[d] = fine.coarse(x)[d];
      }
      sum += weight * coarse.x[number(coarse, from)];
    }
    return sum;
  }
  void descend(std::size_t n) {
    Grid& g = grids_[n];
    g.x.assign(g.x.size(), 0);
    const bool last = n + 1 == grids_.size();
    for (int sweep = 0; sweep < (last ? 8 : 1); ++sweep) relax(g, 0), relax(g, 1);
    if (!last) {
      Grid& coarse = grids_[n + 1];
      coarse.b.assign(coarse.b.size(), 0);
      each_cell(g, [&](const Point& x) { coarse.b[number(coarse, g.coarse(x))] += residual(g, x); });
      descend(n + 1);
      each_cell(g, [&](const Point& x) { g.x[number(g, x)] += interpolated(coarse, g, x); });
    }
    for (int sweep = 0; sweep < (last ? 8 : 1); ++sweep) relax(g, 1), relax(g, 0);
  }

  Mirror mirror_;
  std::vector<Grid> grids_;
};

}  // namespace cfd
