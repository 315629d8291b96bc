// The time of one step alone: after a pause, begun by all ranks at one instant, until the last is done. For observe().
//
// Steps that follow one another overlap where some ranks are done before others (the root of a broadcast), and run through a line of
// messages that is warm. All ranks of a node wait for one instant of its clock (window-based synchronisation, as SKaMPI and ReproMPI do
// it: S. Hunold, A. Carpen-Amarie, IEEE TPDS 27 (2016) 3617); on several nodes, whose clocks differ, each begins as it leaves a barrier.
#pragma once

#include <algorithm>

#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

inline double clock_seconds() { return 1e-9 * static_cast<double>(clock_nanoseconds()); }

// The median over up to 15 steps, fewer after short batches, of the time of the slowest rank; the same on every rank. `last` is the
// iteration of the last step of the batch `seen`: steps up to it are taken again, itself last, so that a check finds what it did before.
inline double alone(const Observations& seen, const Team& team, Index last) {
  constexpr Index most = 15;
  constexpr double pause = 30e-6;
  const Index count = std::clamp<Index>(seen.steps / 4, 1, most);
  double mine[most];
  for (Index k = 0; k < count; ++k) {
    double begin = total(team.rank == 0 ? clock_seconds() + pause : 0);
    if (team.nodes > 1) {
      barrier();
      begin = clock_seconds();
    }
    while (clock_seconds() < begin) continue;
    run_steps(last - count + 1 + k, 1);
    mine[k] = clock_seconds() - begin;
  }
  maximum(mine, static_cast<int>(count));
  std::nth_element(mine, mine + count / 2, mine + count);
  return mine[count / 2];
}

}  // namespace fl::inline FL_ROLE
