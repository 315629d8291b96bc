// Which grids multigrid has, and which of their cells each process has: pure functions of the whole grid, of how strongly its cells are
// coupled and of the process grid.
//
// Along dimensions whose coupling is close to the strongest two cells become one, along the others all stay: what a point's relaxation
// leaves changes slowly along strong couplings alone. A cell of a coarser grid belongs to the process with the first cell that it is made
// of, so what cells are joined does not depend on how many processes there are.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "system.hpp"

namespace cfd {

using Joined = std::array<bool, 3>;  // along these dimensions two cells become one

// Returns the dimensions to join in the whole grid. The result is empty where there are two cells or one along each dimension, all alike
// coupled: relaxation solves the rest.
inline Joined joined(const Point& extents, const Coupling& coupling) {
  constexpr double close = 0.4;  // two cells joined, the coupling is a quarter as strong as the others
  double most = 0;
  for (std::size_t d = 0; d < 3; ++d)
    if (extents[d] > 1) most = std::max(most, coupling[d]);
  Joined by{};
  bool last = true;
  for (std::size_t d = 0; d < 3; ++d) {
    by[d] = extents[d] > 1 && coupling[d] >= close * most;
    last = last && (extents[d] == 1 || (extents[d] == 2 && by[d]));
  }
  return last ? Joined{} : by;
}
inline Coupling coarser(Coupling coupling, const Joined& by) {
  for (std::size_t d = 0; d < 3; ++d)
    if (by[d]) coupling[d] /= 4;
  return coupling;
}
// Coarsens extents, or the place where a block begins.
inline Point coarser(Point at, const Joined& by) {
  for (std::size_t d = 0; d < 3; ++d)
    if (by[d]) at[d] = (at[d] + 1) / 2;
  return at;
}

// One grid, and how the cells of a block of it make those of the next. Cells are counted from the block's first one.
struct Level {
  grid::Block<3> block;
  Coupling coupling{};
  Joined by{};
  Point odd{};               // 1 where the block's first cell is the second of a pair, whose first one another block has
  Point beyond{};            // 1 where its last cell is the first of a pair, whose second one another block has
  bool split_pairs = false;  // anywhere in the grid

  Point size() const { return block.size(); }
  const Point& extents() const { return block.domain.extents; }
  bool joins() const { return by[0] || by[1] || by[2]; }
  Point next_extents() const { return coarser(extents(), by); }
  grid::Box<3> next_owned() const { return {coarser(block.owned.lower, by), coarser(block.owned.upper, by)}; }
  Point next_size() const { return next_owned().sizes(); }
  // Cells that make the coarse one at x; some may be another block's.
  grid::Box<3> parts(const Point& x) const {
    grid::Box<3> box;
    for (std::size_t d = 0; d < 3; ++d) {
      box.lower[d] = by[d] ? 2 * x[d] + odd[d] : x[d];
      box.upper[d] = by[d] ? std::min(box.lower[d] + 2, size()[d] + beyond[d]) : x[d] + 1;
    }
    return box;
  }
  // The coarse cell that a cell is part of: -1 is another block's.
  Index coarse(std::size_t d, Index x) const { return by[d] ? (x - odd[d] + 2) / 2 - 1 : x; }
  // The whole grid, counted like the block's cells.
  grid::Box<3> whole() const {
    const Point& corner = block.owned.lower;
    return {grid::minus<3>({}, corner), grid::minus<3>(extents(), corner)};
  }
  // Returns the colour of the block's first cell, 0 for red.
  Index colour() const { return (block.owned.lower[0] + block.owned.lower[1] + block.owned.lower[2]) % 2; }
  // What of a cell's walls is left where cells are joined. Across a wall their middle is twice as far away; where a cell has several walls
  // at which x is 0, each takes as its dimension is coupled.
  double wall_share(const Mirror& mirror, const Point& x) const {
    const grid::Box<3> all = whole();
    double halved = 0, sum = 0;
    const auto wall = [&](std::size_t d, bool there, double reflected) {
      if (!there || reflected > 0) return;
      sum += coupling[d];
      if (by[d]) halved += coupling[d];
    };
    for (std::size_t d = 0; d < 3; ++d) {
      wall(d, x[d] == all.lower[d], mirror[d][0]);
      wall(d, x[d] + 1 == all.upper[d], mirror[d][1]);
    }
    return sum > 0 ? 1 - 0.5 * halved / sum : 0.5;
  }
};

// Where blocks begin and the last one ends, along each dimension.
using Cuts = std::array<std::vector<Index>, 3>;
inline Cuts cuts_of(const grid::Block<3>& block) {
  Cuts cuts;
  for (std::size_t d = 0; d < 3; ++d) {
    for (Index n = 0; n < block.ranks.count[d]; ++n) cuts[d].push_back(fl::part(block.domain.extents[d], block.ranks.count[d], n).begin);
    cuts[d].push_back(block.domain.extents[d]);
  }
  return cuts;
}

inline Level level(const grid::Block<3>& block, const Coupling& coupling, const Cuts& cuts) {
  Level here{.block = block, .coupling = coupling, .by = joined(block.domain.extents, coupling)};
  for (std::size_t d = 0; d < 3; ++d) {
    if (!here.by[d]) continue;
    here.odd[d] = block.owned.lower[d] % 2;
    here.beyond[d] = block.owned.upper[d] % 2 == 1 && block.owned.upper[d] < block.domain.extents[d] ? 1 : 0;
    for (std::size_t n = 0; n + 1 < cuts[d].size(); ++n) here.split_pairs = here.split_pairs || cuts[d][n] % 2 == 1;
  }
  return here;
}
// The same block of the next grid, and its cuts.
inline grid::Block<3> next_block(const Level& here) {
  grid::Block<3> block = here.block;
  block.domain.extents = here.next_extents();
  block.owned = here.next_owned();
  return block;
}
inline Cuts next_cuts(Cuts cuts, const Joined& by) {
  for (std::size_t d = 0; d < 3; ++d)
    for (Index& cut : cuts[d]) cut = by[d] ? (cut + 1) / 2 : cut;
  return cuts;
}
inline grid::Box<3> part_of(const Cuts& cuts, const Point& place) {
  grid::Box<3> box;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto n = static_cast<std::size_t>(place[d]);
    box.lower[d] = cuts[d][n];
    box.upper[d] = cuts[d][n + 1];
  }
  return box;
}
inline bool all_have_some(const Cuts& cuts) {
  for (const auto& along : cuts)
    if (std::adjacent_find(along.begin(), along.end()) != along.end()) return false;
  return true;
}

// Grids that are cut into blocks, the finest first; then those that every process has as a whole. Where there are few cells it is slower
// to exchange them than to compute them, and a process may have none.
struct Levels {
  static constexpr Index few = 256;  // cells

  std::vector<Level> cut, whole;
  Cuts parts;  // of the first whole one: what of it comes from whom

  Levels() = default;
  Levels(const grid::Block<3>& block, const Coupling& coupling) {
    Cuts cuts = cuts_of(block);
    cut.push_back(level(block, coupling, cuts));
    while (cut.back().joins()) {
      const Level& here = cut.back();
      const grid::Block<3> next = next_block(here);
      const Coupling weaker = coarser(here.coupling, here.by);
      cuts = next_cuts(cuts, here.by);
      const Point& extents = next.domain.extents;
      if (block.ranks.count != Point{1, 1, 1} && (extents[0] * extents[1] * extents[2] <= few || !all_have_some(cuts))) {
        gather(extents, weaker, cuts);
        return;
      }
      cut.push_back(level(next, weaker, cuts));
    }
  }

 private:
  void gather(Point extents, Coupling coupling, const Cuts& cuts) {
    parts = cuts;
    while (true) {
      const grid::Block<3> all({.extents = extents, .halo = {1, 1, 1}}, 1, 0);
      whole.push_back(level(all, coupling, cuts_of(all)));
      const Level& here = whole.back();
      if (!here.joins()) return;
      extents = here.next_extents();
      coupling = coarser(here.coupling, here.by);
    }
  }
};

}  // namespace cfd
