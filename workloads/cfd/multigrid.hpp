// A multigrid V-cycle for symmetric systems of diffusion on a block of cells. 2 x 2 x 2 cells become one of the next grid; where their
// number is odd the last one stays alone. Its face lets through what the faces it is made of do, by half, for centres lie twice as far
// apart: so the coarse matrix of a Poisson equation is that of the coarse grid. Residuals are summed over the cells of a coarse one, and
// corrections interpolated linearly between centres, and beyond the block by what holds at its sides (`Mirror`, system.hpp). Red-black
// relaxation once before and, the colours the other way round, once after. Blocks know nothing of each other: what lies beyond is 0 for the
// cycle.
//
// P. Wesseling, Cell-centered multigrid for interface problems, J. Comput. Phys. 79 (1988) 85; U. Trottenberg, C. Oosterlee, A. Schueller,
// Multigrid (2001), 2.8.4.
#pragma once

#include <vector>

#include "plain_rows.hpp"

namespace cfd::inline FL_ROLE {

// A grid of the hierarchy but the finest one; b is the residual of the finer grid.
template <class Real>
struct CoarseGrid {
  SystemOf<Real> system;
  FieldOf<Real> x;

  explicit CoarseGrid(const Point& size) : x(size, {1, 1, 1}) {
    for (auto& a : system.a) a = FieldOf<Real>(size, {1, 1, 1});
    system.b = FieldOf<Real>(size, {1, 1, 1});
    std::fill_n(x.data(), x.layout().elements, Real{0});
  }
};

inline Point coarser(Point size) {
  for (Index& n : size) n = (n + 1) / 2;
  return size;
}
inline bool coarsest(const Point& size) { return *std::max_element(size.begin(), size.end()) <= 2; }

// Beyond the block, by what is within.
template <class Real>
void reflect(FieldOf<Real>& x, const Mirror& mirror) {
  grid::Box<3> box = x.layout().owned();
  for (std::size_t d = 0; d < 3; ++d) {
    for (const Index step : {-1, 1}) {
      grid::Box<3> face = box;
      face.lower[d] = step < 0 ? 0 : x.size()[d] - 1;
      face.upper[d] = face.lower[d] + 1;
      grid::each_cell(face, [&](Point at) {
        const Real inside = x[at];
        at[d] += step;
        x[at] = static_cast<Real>(mirror[d][step > 0 ? 1 : 0]) * inside;
      });
    }
    --box.lower[d];
    ++box.upper[d];
  }
}

template <class Machine, class Body, class Real = double>
class VCycle {
 public:
  // The colour of the block's first cell: 0 where it is red.
  void open(const Point& size, Index corner, const Mirror& mirror) {
    size_ = size;
    corner_ = corner;
    mirror_ = mirror;
    for (Point next = size; !coarsest(next); grids_.emplace_back(next)) next = coarser(next);
  }
  // The coarse matrices of this one.
  void factor(Machine& machine, Body& body, const RowsOf<Real>& finest) {
    Point size = size_;
    const RowsOf<Real>* fine = &finest;
    std::vector<RowsOf<Real>> rows;
    rows.reserve(grids_.size());
    for (CoarseGrid<Real>& grid : grids_) {
      machine.each(grid.x.size(), [&](Index k, Index j) { return body.coarsen(*fine, size, grid.system, k, j), Sums{}; });
      rows.emplace_back(grid.system);
      fine = &rows.back();
      size = grid.x.size();
    }
  }
  // x, whose halo is 0, becomes about A^-1 b.
  void operator()(Machine& machine, Body& body, const RowsOf<Real>& finest, Real* x) {
    constexpr int bottom = 8;  // sweeps either way on the coarsest grid
    std::vector<Grid> all{{size_, finest, x}};
    for (CoarseGrid<Real>& grid : grids_) all.push_back({grid.x.size(), RowsOf<Real>(grid.system), grid.x.view().origin});
    for (std::size_t n = 0; n < all.size(); ++n) {
      const Grid& here = all[n];
      machine.each(here.size, [&](Index k, Index j) { return std::fill_n(here.x + here.m.at(k, j), here.size[2], Real{0}), Sums{}; });
      for (int sweep = 0; sweep < (n + 1 == all.size() ? bottom : 1); ++sweep) relax(machine, body, here, 0);
      if (n + 1 == all.size()) break;
      const RowsOf<Real>& coarse = all[n + 1].m;
      Real* to = grids_[n].system.b.view().origin;
      machine.each(all[n + 1].size,
                   [&](Index k, Index j) { return body.restrict_residual(here.m, here.x, here.size, to + coarse.at(k, j), k, j), Sums{}; });
    }
    for (std::size_t n = all.size(); n-- > 0;) {
      const Grid& here = all[n];
      if (n + 1 < all.size()) {
        const Grid& coarse = all[n + 1];
        reflect(grids_[n].x, mirror_);
        machine.each(here.size,
                     [&](Index k, Index j) { return body.prolong(coarse.x, coarse.m, here.size, here.x + here.m.at(k, j), k, j), Sums{}; });
      }
      for (int sweep = 0; sweep < (n + 1 == all.size() ? bottom : 1); ++sweep) relax(machine, body, here, 1);
    }
  }

 private:
  struct Grid {
    Point size;
    RowsOf<Real> m;
    Real* x;
  };

  // Both colours, `first` of them first.
  void relax(Machine& machine, Body& body, const Grid& g, Index first) {
    const auto half = [&](Index colour, bool cached) {
      return [&body, &g, colour = corner_ + colour, cached](Index k, Index j) {
        return body.relax(g.m, g.x, g.m.at(k, j), g.size[2], (colour + k + j) % 2, cached);
      };
    };
    machine.both(g.size, half(first, false), half(1 - first, true));
  }

  Point size_{};
  Index corner_ = 0;
  Mirror mirror_{};
  std::vector<CoarseGrid<Real>> grids_;
};

}  // namespace cfd::inline FL_ROLE
