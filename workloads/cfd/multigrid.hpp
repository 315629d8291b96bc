// A multigrid V-cycle for symmetric systems of diffusion, the same on any number of processes. Along dimensions that are coupled about as
// strongly as the strongest two cells become one of the next grid (grids.hpp); where their number is odd the last one stays alone. A face
// between joined cells lets through what the faces it is made of do, by half, for centres lie twice as far apart; the others all of it: so
// the coarse matrix of a Poisson equation is that of the coarse grid. Residuals are summed over the cells of a coarse one, and corrections
// interpolated linearly between centres, and beyond the whole grid by the conditions at its sides (`Mirror`, system.hpp). Red-black relaxation
// once before and, the colours the other way round, once after.
//
// Where cells are ten times as long as high and all dimensions are halved alike, a relaxation leaves what the coarse grid takes for
// something else; such a cycle is not positive definite, and conjugate gradients with it come to no end. With the dimensions that are
// coupled strongly alone the cycle times A has eigenvalues between 0.8 and 1.1 whatever the shape of cells.
//
// P. Wesseling, Cell-centered multigrid for interface problems, J. Comput. Phys. 79 (1988) 85; U. Trottenberg, C. Oosterlee, A. Schueller,
// Multigrid (2001), 2.8.4, 5.1.
#pragma once

#include <deque>
#include <vector>

#include "firstlight/phase.hpp"
#include "plain_rows.hpp"

namespace cfd {

// Beyond the sides of the whole grid that a block has, by what is within. Halos of other blocks have arrived before.
template <class Real>
void reflect(FieldOf<Real>& x, const grid::Block<3>& block, const Mirror& mirror) {
  grid::Box<3> box = x.layout().owned();
  for (std::size_t d = 0; d < 3; ++d) {
    if (block.has_neighbour(d, -1)) --box.lower[d];
    if (block.has_neighbour(d, 1)) ++box.upper[d];
  }
  for (std::size_t d = 0; d < 3; ++d)
    for (const Index step : {-1, 1}) {
      if (block.has_neighbour(d, step)) continue;
      const Index inside = step < 0 ? 0 : x.size()[d] - 1;
      grid::Box<3> face = box;
      face.lower[d] = inside, face.upper[d] = inside + 1;
      grid::each_cell(face, [&](Point at) {
        const Real within = x[at];
        at[d] += step;
        x[at] = static_cast<Real>(mirror[d][step > 0 ? 1 : 0]) * within;
      });
      (step < 0 ? --box.lower[d] : ++box.upper[d]);
    }
}

template <class Marks, class Machine, class Body, class Real = double>
class VCycle {
 public:
  // For this system, whose cells those of x are: what a cycle finds. The halos of the matrix are filled where pairs are split.
  void open(const grid::Block<3>& block, const Shape& shape, SystemOf<Real>& system, FieldOf<Real>& x) {
    mirror_ = shape.mirror;
    const Levels levels(block, shape.coupling);
    const bool cut = block.ranks.size() > 1;
    grids_.emplace_back(levels.cut.front(), system, x).open(cut, grid::Reach::faces);
    for (std::size_t n = 1; n < levels.cut.size(); ++n) grids_.emplace_back(levels.cut[n]).open(cut, grid::Reach::corners);
    gathered_ = grids_.size();
    for (const Level& level : levels.whole) grids_.emplace_back(level);
    if (levels.whole.empty()) return;
    part_ = Own(levels.cut.back().next_size());
    corner_ = levels.cut.back().next_owned().lower;
    std::vector<grid::Box<3>> parts;
    for (int rank = 0; rank < block.ranks.size(); ++rank) parts.push_back(part_of(levels.parts, block.ranks.place(rank)));
    gather_.open(parts, block.rank);
  }
  // The coarse matrices of this one.
  void factor(Machine& machine, Body& body) {
    for (std::size_t n = 0; n + 1 < grids_.size(); ++n) {
      Grid& fine = grids_[n];
      if (fine.cut && fine.level.split_pairs) fl::during(Marks::halo, [&] { fine.coefficients(); });
      SystemOf<Real>& to = n + 1 == gathered_ ? part_.system : *grids_[n + 1].system;
      const RowsOf<Real> m(*fine.system);
      machine.each(to.b.size(), [&](Index k, Index j) { return body.coarsen(m, fine.level, mirror_, to, k, j), Sums{}; });
      if (n + 1 != gathered_) continue;
      for (std::size_t place = P; place <= T; ++place) gather(part_.system.a[place], grids_[n + 1].system->a[place]);
    }
  }
  // x becomes about A^-1 b.
  void operator()(Machine& machine, Body& body, const Real* b) {
    constexpr int bottom = 8;  // sweeps either way on the coarsest grid
    const auto sweeps = [&](std::size_t n) { return n + 1 == grids_.size() ? bottom : 1; };
    for (std::size_t n = 0; n < grids_.size(); ++n) {
      Grid& here = grids_[n];
      here.clear(machine);
      for (int sweep = 0; sweep < sweeps(n); ++sweep) {
        if (sweep > 0) here.exchange();
        relax(machine, body, here, b, 0);
      }
      if (n + 1 < grids_.size()) restrict_residual(machine, body, n, b);
    }
    for (std::size_t n = grids_.size(); n-- > 0;) {
      if (n + 1 < grids_.size()) prolong(machine, body, n);
      for (int sweep = 0; sweep < sweeps(n); ++sweep) {
        grids_[n].exchange();
        relax(machine, body, grids_[n], b, 1);
      }
    }
  }

 private:
  // Fields of a grid but the finest one.
  struct Own {
    SystemOf<Real> system;
    FieldOf<Real> x;

    explicit Own(const Point& size = {}) : x(size, {1, 1, 1}) {
      for (auto& a : system.a) a = FieldOf<Real>(size, {1, 1, 1});
      system.b = FieldOf<Real>(size, {1, 1, 1});
      std::fill_n(x.data(), x.layout().elements, Real{0});
    }
  };
  // `b` is the residual of the finer grid.
  struct Grid {
    Level level;
    Own own;
    SystemOf<Real>* system;
    FieldOf<Real>* x;
    bool cut = false;    // into blocks
    FieldOf<Real> rest;  // what is left of cells in pairs that are split
    typename Machine::Halo values, coefficients, rests;
    grid::Split<3> split;

    Grid(const Level& level, SystemOf<Real>& system, FieldOf<Real>& x) : level(level), system(&system), x(&x) {}
    explicit Grid(const Level& level) : level(level), own(level.size()), system(&own.system), x(&own.x) {}
    Grid(const Grid&) = delete;
    Grid& operator=(const Grid&) = delete;

    void open(bool into_blocks, grid::Reach reach) {
      cut = into_blocks;
      if (!cut) return;
      split = grid::split(level.block, {1, 1, 1});
      values.open(level.block, reach, *x);
      if (!level.split_pairs) return;
      auto& a = system->a;
      coefficients.open(level.block, grid::Reach::corners, a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
      rest = FieldOf<Real>(level.size(), {1, 1, 1});
      std::fill_n(rest.data(), rest.layout().elements, Real{0});
      rests.open(level.block, grid::Reach::corners, rest);
    }
    RowsOf<Real> rows(const Real* finest_b) {
      RowsOf<Real> m(*system);
      if (system != &own.system) m.b = finest_b;
      return m;
    }
    Real* origin() { return x->view().origin; }
    void exchange() {
      if (cut) fl::during(Marks::halo, [&] { values(); });
    }
    // x and what other blocks have of it become 0.
    void clear(Machine& machine) {
      const RowsOf<Real> m(*system);
      machine.each(level.size(), [&](Index k, Index j) { return std::fill_n(origin() + m.at(k, j), level.size()[2], Real{0}), Sums{}; });
      if (!cut) return;
      for (std::size_t d = 0; d < 3; ++d)
        for (const Index step : {-1, 1}) {
          Point offset{};
          offset[d] = step;
          if (!level.block.has_neighbour(d, step)) continue;
          grid::each_row(grid::receive_box<3>(level.size(), {1, 1, 1}, offset),
                         [&](const Point& at, Index n) { std::fill_n(&(*x)[at], n, Real{0}); });
        }
    }
    // Stores the residuals of the block's first cells where they are the second ones of pairs.
    void leave(const RowsOf<Real>& m) {
      for (std::size_t d = 0; d < 3; ++d) {
        if (level.odd[d] == 0) continue;
        grid::Box<3> first = level.block.cells();
        first.upper[d] = 1;
        grid::each_cell(first, [&](const Point& at) { rest[at] = residual(m, origin(), m.at(at[0], at[1]) + at[2]); });
      }
      fl::during(Marks::halo, [&] { rests(); });
    }
  };

  void gather(const FieldOf<Real>& part, FieldOf<Real>& whole) {
    const fl::In in(Marks::halo);
    gather_(part, whole);
  }

  // Both colours, `first` of them first. Where others need them the cells of the first colour at the rim come before all, and travel while
  // the inner ones are computed; those of the second colour at the rim wait for them.
  void relax(Machine& machine, Body& body, Grid& g, const Real* b, Index first) {
    const RowsOf<Real> m = g.rows(b);
    Real* x = g.origin();
    const auto some = [&](const Point& at, Index n, Index colour, bool cached) {
      return body.relax(m, x, m.at(at[0], at[1]) + at[2], n, (g.level.colour() + colour + at[0] + at[1] + at[2]) % 2, cached);
    };
    const auto rim = [&](Index colour) {
      for (const grid::Box<3>& box : g.split.rim) grid::each_row(box, [&](const Point& at, Index n) { some(at, n, colour, false); });
    };
    const grid::Box<3> inner = g.cut ? g.split.inner : g.level.block.cells();
    const auto half = [&](Index colour, bool cached) {
      return [&inner, &some, colour, cached](Index k, Index j) {
        return some(grid::plus<3>(inner.lower, {k, j, 0}), inner.size(2), colour, cached);
      };
    };
    rim(first);
    if (g.cut) fl::during(Marks::halo, [&] { g.values.start(); });
    if (!inner.empty()) machine.both(inner.sizes(), half(first, false), half(1 - first, true));
    if (g.cut) fl::during(Marks::halo, [&] { g.values.finish(); });
    rim(1 - first);
  }
  void restrict_residual(Machine& machine, Body& body, std::size_t n, const Real* b) {
    Grid& fine = grids_[n];
    const RowsOf<Real> m = fine.rows(b);
    fine.exchange();
    const bool split = fine.cut && fine.level.split_pairs;
    if (split) fine.leave(m);
    const Real* rest = split ? fine.rest.view().origin : nullptr;
    FieldOf<Real>& to = n + 1 == gathered_ ? part_.system.b : grids_[n + 1].system->b;
    const RowsOf<Real> coarse(n + 1 == gathered_ ? part_.system : *grids_[n + 1].system);
    Real* first = to.view().origin;
    machine.each(to.size(), [&](Index k, Index j) {
      return body.restrict_residual(m, fine.origin(), rest, fine.level, first + coarse.at(k, j), k, j), Sums{};
    });
    if (n + 1 == gathered_) gather(to, grids_[n + 1].system->b);
  }
  void prolong(Machine& machine, Body& body, std::size_t n) {
    Grid &fine = grids_[n], &coarse = grids_[n + 1];
    coarse.exchange();
    reflect(*coarse.x, coarse.level.block, mirror_);
    const RowsOf<Real> m(*fine.system), from(*coarse.system);
    const Real* first = n + 1 == gathered_ ? &(*coarse.x)[corner_] : coarse.origin();
    machine.each(fine.level.size(),
                 [&](Index k, Index j) { return body.prolong(first, from, fine.level, fine.origin() + m.at(k, j), k, j), Sums{}; });
  }

  Mirror mirror_{};
  std::deque<Grid> grids_;    // the finest first
  std::size_t gathered_ = 0;  // the number of the first one that every process has as a whole
  Own part_;                  // a process's part of it
  Point corner_{};            // and where that begins
  typename Machine::template Gather<Real> gather_;
};

}  // namespace cfd
