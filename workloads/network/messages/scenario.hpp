// Who sends to whom in which round: pure functions of the number of processes, the same for every process except for its rank. Partners are
// numbered by their distance: a rank that sends to rank + d receives from rank - d.
#pragma once

#include <algorithm>
#include <vector>

#include "firstlight/workload.hpp"

namespace messages {

enum class Scenario { neighbours, pairs, drift, all };

inline constexpr int hot_set = 6, dwell = 24;  // neighbours; rounds that a hot set of `drift` lasts

// Distances in 0 .. ranks - 1, each once. One process alone is its own partner in every scenario.
//   neighbours  the three next on either side in every round, and one of the crowd, another one in each round
//   pairs       every process, itself, too
//   drift       six, or half of the others, that move on every `dwell` rounds
//   all         every other process
inline std::vector<int> partners(Scenario scenario, int ranks, fl::Index round) {
  std::vector<int> distances;
  if (scenario == Scenario::pairs || ranks == 1) {
    for (int d = 0; d < ranks; ++d) distances.push_back(d);
    return distances;
  }
  const int others = ranks - 1;
  const auto add = [&](fl::Index d) {
    const int distance = static_cast<int>(1 + d % others);
    if (std::find(distances.begin(), distances.end(), distance) == distances.end()) distances.push_back(distance);
  };
  if (scenario == Scenario::all)
    for (int d = 0; d < others; ++d) add(d);
  if (scenario == Scenario::neighbours) {
    for (int d = 0; d < hot_set / 2; ++d) add(d), add(others - 1 - d % others);
    add(hot_set / 2 + round % std::max(1, others - hot_set));
  }
  const int drifting = std::clamp(others / 2, 1, hot_set);
  if (scenario == Scenario::drift)
    for (int d = 0; d < drifting; ++d) add(round / dwell * drifting + d);
  return distances;
}

}  // namespace messages
