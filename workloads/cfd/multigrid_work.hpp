// What multigrid (multigrid_solver.hpp) computes and moves for each cell of the finest grid: flop, and numbers of 64 bits.
#pragma once

#include "firstlight/workload.hpp"

namespace cfd::inline FL_ROLE {

struct CellWork {
  double flops = 0, words = 0;
};
inline constexpr double all_grids = 8.0 / 7.0;  // as many cells as the finest one has

// The coarse matrices.
inline constexpr CellWork coarse_matrices{all_grids * 10, all_grids * 8};

// A cycle: x set to 0; both colours twice; the residual, and an eighth of b; the correction from an eighth of x. Around it: directions, A p,
// x and r; of conjugate gradients z r and z q, too.
inline CellWork cycle_work(bool accelerated) {
  const CellWork cycle{all_grids * (13 + 14 + 8 + 13), all_grids * (1 + 10 + 9.125 + 2.125 + 10)}, around{13 + 2 + 6 + 2, 9 + 6 + 3};
  return {cycle.flops + around.flops + (accelerated ? 4 : 0), cycle.words + around.words + (accelerated ? 3 : 0)};
}

}  // namespace cfd::inline FL_ROLE
