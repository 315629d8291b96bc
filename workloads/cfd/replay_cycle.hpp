// The multigrid cycle of one block, plainly: what multigrid.hpp has to compute, cell by cell from its definition, without halos, rows
// or two colours at once.
#pragma once

#include <vector>

#include "system.hpp"

namespace cfd::inline FL_ROLE {

class ReplayedCycle {
 public:
  // `corner`: the block's first cell in the whole grid. a(x): the coefficients of a cell of the block that couple it to others of the block.
  template <class Matrix>
  ReplayedCycle(const Point& size, const Point& corner, const Mirror& mirror, Matrix a) : corner_(corner), mirror_(mirror) {
    grids_.push_back(Grid(size));
    each_cell(grids_[0], [&](const Point& x) { grids_[0].a[number(grids_[0], x)] = a(x); });
    while (std::max({grids_.back().size[0], grids_.back().size[1], grids_.back().size[2]}) > 2) grids_.push_back(coarser(grids_.back()));
  }
  Index cells() const { return static_cast<Index>(grids_[0].x.size()); }
  // In the order of memory. Returns about A^-1 b.
  const std::vector<double>& operator()(const std::vector<double>& b) {
    grids_[0].b = b;
    descend(0);
    return grids_[0].x;
  }

 private:
  struct Grid {
    Point size;
    std::vector<Coefficients> a;
    std::vector<double> b, x;
    explicit Grid(const Point& size) : size(size) {
      const auto cells = static_cast<std::size_t>(size[0] * size[1] * size[2]);
      a.resize(cells), b.resize(cells), x.resize(cells);
    }
  };

  template <class Visit>
  static void each_cell(const Grid& g, Visit visit) {
    grid::each_cell(grid::Box<3>{{}, g.size}, visit);
  }
  static std::size_t number(const Grid& g, const Point& x) {
    return static_cast<std::size_t>((x[0] * g.size[1] + x[1]) * g.size[2] + x[2]);
  }
  static Point half(const Point& x) { return {x[0] / 2, x[1] / 2, x[2] / 2}; }
  static Point beside(Point x, std::size_t place) {
    x[side_of(place).d] += side_of(place).step;
    return x;
  }

  static Grid coarser(const Grid& fine) {
    Grid g({(fine.size[0] + 1) / 2, (fine.size[1] + 1) / 2, (fine.size[2] + 1) / 2});
    each_cell(fine, [&](const Point& x) {
      const Coefficients& a = fine.a[number(fine, x)];
      Coefficients& to = g.a[number(g, half(x))];
      to[P] += a[P] / 2;
      for (std::size_t place = W; place <= T; ++place) {
        if (a[place] == 0) continue;
        const bool within = half(beside(x, place)) == half(x);
        if (within) to[P] += a[place] / 2;  // so that a row's sum is half of those of its cells
        if (!within) to[place] += a[place] / 2;
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
  void relax(Grid& g, Index colour) const {
    each_cell(g, [&](const Point& x) {
      if ((corner_[0] + corner_[1] + corner_[2] + x[0] + x[1] + x[2] + colour) % 2 != 0) return;
      g.x[number(g, x)] += residual(g, x) / g.a[number(g, x)][P];
    });
  }
  // Between the centres of coarse cells; what lies beyond the block is what its side makes of what is within.
  double interpolated(const Grid& coarse, const Grid& fine, const Point& x) const {
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      Point from = half(x);
      double weight = 1;
      for (std::size_t d = 0; d < 3; ++d) {
        const bool far = (corner >> d & 1) != 0;
        weight *= far ? 0.25 : 0.75;
        if (!far || fine.size[d] == 1) continue;
        from[d] += x[d] % 2 == 0 ? -1 : 1;
        if (from[d] >= 0 && from[d] < coarse.size[d]) continue;
        weight *= mirror_[d][from[d] < 0 ? 0 : 1];
        from[d] = half(x)[d];
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
      each_cell(g, [&](const Point& x) { coarse.b[number(coarse, half(x))] += residual(g, x); });
      descend(n + 1);
      each_cell(g, [&](const Point& x) { g.x[number(g, x)] += interpolated(coarse, g, x); });
    }
    for (int sweep = 0; sweep < (last ? 8 : 1); ++sweep) relax(g, 1), relax(g, 0);
  }

  Point corner_;
  Mirror mirror_;
  std::vector<Grid> grids_;
};

}  // namespace cfd::inline FL_ROLE
