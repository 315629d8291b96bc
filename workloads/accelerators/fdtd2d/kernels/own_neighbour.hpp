// The halos of a process that has all cells: a torus is its own neighbour, beyond other ends nothing is.
#pragma once

#include <algorithm>

#include "firstlight/split.hpp"
#include "update.hpp"

namespace fdtd2d {

struct OwnNeighbour {
  bool around = false;

  void open(const State& s) { around = s.p.problem == Problem::periodic; }

  // Before E is swept, and before H is: the share of one thread, or by a team.
  template <class T>
  void of_h(const Job<T>& job, Index share, Index shares) const {
    const fl::Part mine = lines(job, share, shares);
    for (Index k = mine.begin; k < mine.end; ++k) around_h(job, k);
  }
  template <class T>
  void of_e(const Job<T>& job, Index share, Index shares) const {
    const fl::Part mine = lines(job, share, shares);
    for (Index k = mine.begin; k < mine.end; ++k) around_e(job, k);
  }
  template <class T, class Team>
  void of_h(const Job<T>& job, const Team& team) const {
    team([&](Index share, Index shares) { of_h(job, share, shares); });
  }
  template <class T, class Team>
  void of_e(const Job<T>& job, const Team& team) const {
    team([&](Index share, Index shares) { of_e(job, share, shares); });
  }

 private:
  template <class T>
  fl::Part lines(const Job<T>& job, Index share, Index shares) const {
    return around ? fl::part(std::max(job.rows, job.columns), shares, share) : fl::Part{};
  }
};

}  // namespace fdtd2d
