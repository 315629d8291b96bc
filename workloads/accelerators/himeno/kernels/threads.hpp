// What variants with threads share: where the pages of fields lie, and sums over a team.
#pragma once

#include <vector>

#include "firstlight/grid/team.hpp"
#include "himeno.hpp"

namespace himeno {

// Each thread touches first what it computes on.
template <class Team>
void place(State& s, const Team& team) {
  team([&](Index share, Index shares) {
    for (Field* field : {&s.p, &s.next}) grid::first_touch(*field, share, shares);
    each_coefficient(s, [&](Field& field, Coefficient) { grid::first_touch(field, share, shares); });
  });
}

// Returns the sum of the results of the shares of a team of at most `threads` threads, in the order of the shares.
template <class Team, class Work>
double summed(const Team& team, int threads, const Work& work) {
  struct alignas(64) Part {
    double sum = 0;
  };
  std::vector<Part> parts(static_cast<std::size_t>(threads));
  team([&](Index share, Index shares) { parts[static_cast<std::size_t>(share)].sum = work(share, shares); });
  double all = 0;
  for (const Part& part : parts) all += part.sum;
  return all;
}

}  // namespace himeno
