// One process, which has all cells and all states. processes.hpp has the same for many.
#pragma once

#include "firstlight/grid/one_process.hpp"
#include "stencil.hpp"

namespace rsdft {

// Which packs of states a group has.
inline fl::Part packs_of(const Params& p, Index group) { return fl::part(p.states / lanes, p.groups, group); }

struct OneProcess {
  using Transport = grid::OneProcess;

  void open(const State&) {}
  void close() {}
  Transport transport() const { return {}; }
  void over_grid(double*, Index) const {}  // sums over the ranks of a group
  void over_all(double*, Index) const {}   // over all ranks
  // Between all states of some cells, `states` (cells x states), and some states of the block's cells, `packs` (packs x cells).
  template <class Team>
  void to_packs(const State& s, const Team& team, const double* states, Pack* packs) const {
    each_pack(s, team, [&](Index state, Index pack) { std::copy_n(states + state, lanes, packs[pack].at); });
  }
  template <class Team>
  void to_states(const State& s, const Team& team, const Pack* packs, double* states) const {
    each_pack(s, team, [&](Index state, Index pack) { std::copy_n(packs[pack].at, lanes, states + state); });
  }

 private:
  // move(its first state among the states, its number among the packs)
  template <class Team, class Move>
  static void each_pack(const State& s, const Team& team, const Move& move) {
    const Index cells = s.cells.size(), packs = s.p.states / lanes;
    team([&](Index share, Index shares) {
      const fl::Part mine = fl::part(cells, shares, share);
      for (Index b = 0; b < packs; ++b)
        for (Index c = mine.begin; c < mine.end; ++c) move((c * packs + b) * lanes, b * cells + c);
    });
  }
};

}  // namespace rsdft
