// What multigrid (multigrid_solver.hpp) computes and moves for each cell of the finest grid: flop, and numbers of 64 bits.
#pragma once

#include "firstlight/workload.hpp"
#include "grids.hpp"

namespace cfd {

struct CellWork {
  double flops = 0, words = 0;
  CellWork& operator+=(const CellWork& more) {
    flops += more.flops, words += more.words;
    return *this;
  }
  CellWork operator*(double times) const { return {times * flops, times * words}; }
};

// visit(cells, next): of each grid and of the one after it, as shares of those of the finest one. Halves of odd extents count as halves.
template <class Visit>
void each_grid(Point extents, Coupling coupling, Visit visit) {
  for (double cells = 1, next = 0;; cells = next) {
    const Joined by = joined(extents, coupling);
    next = by == Joined{} ? 0 : cells;
    for (const bool halved : by) next = halved ? next / 2 : next;
    visit(cells, next);
    if (next == 0) return;
    coupling = coarser(coupling, by);
    extents = coarser(extents, by);
  }
}

// The coarse matrices.
inline CellWork matrices_work(const Point& extents, const Coupling& coupling) {
  CellWork all;
  each_grid(extents, coupling, [&](double cells, double) { all += CellWork{10, 8} * cells; });
  return all;
}

// A cycle: x set to 0; both colours twice; the residual, and b of the next grid; the correction from x of that. Around it: directions, A p, x
// and r; of conjugate gradients z r and z q, too.
inline CellWork cycle_work(const Point& extents, const Coupling& coupling, bool accelerated) {
  CellWork all{13 + 2 + 6 + 2, 9 + 6 + 3};
  each_grid(extents, coupling, [&](double cells, double next) {
    all += CellWork{13 + 14 + 8 + 13, 1 + 10 + 9 + 2 + 10} * cells;
    all.words += 2 * next;
  });
  if (accelerated) all += {4, 3};
  return all;
}

}  // namespace cfd
