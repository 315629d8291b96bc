// Many processes: groups of them share out the states, the ranks of a group cut the grid. Ranks that hold the same block, one of each group,
// exchange: each has all states of a share of the block's cells where states meet, and its group's states of the whole block where H acts.
#pragma once

#include <mpi.h>

#include "firstlight/grid/mpi.hpp"
#include "parties.hpp"

namespace rsdft {

struct Processes {
  using Transport = grid::Mpi;

  MPI_Comm of_group = MPI_COMM_NULL, of_block = MPI_COMM_NULL;
  fl::Array<Pack> here, there;                                  // all states of some cells, some states of all cells; each by peer
  std::vector<int> here_count, here_at, there_count, there_at;  // doubles

  void open(const State& s) {
    const int group = static_cast<int>(s.group), groups = static_cast<int>(s.p.groups);
    MPI_Comm_split(MPI_COMM_WORLD, group, s.team.rank, &of_group);
    MPI_Comm_split(MPI_COMM_WORLD, s.team.rank / groups, s.team.rank, &of_block);
    const Index cells = s.block.cells().cells(), own = packs_of(s.p, s.group).size();
    here = fl::Array<Pack>(s.cells.size() * (s.p.states / lanes));
    there = fl::Array<Pack>(cells * own);
    Index here_next = 0, there_next = 0;
    const auto add = [](std::vector<int>& count, std::vector<int>& at, Index packs, Index& next) {
      count.push_back(static_cast<int>(packs * lanes));
      at.push_back(static_cast<int>(next * lanes));
      next += packs;
    };
    for (Index g = 0; g < s.p.groups; ++g) {
      add(here_count, here_at, s.cells.size() * packs_of(s.p, g).size(), here_next);
      add(there_count, there_at, fl::part(cells, s.p.groups, g).size() * own, there_next);
    }
  }
  void close() {
    MPI_Comm_free(&of_group);
    MPI_Comm_free(&of_block);
  }
  Transport transport() const { return {.communicator = of_group}; }
  void over_grid(double* sums, Index count) const { sum(sums, count, of_group); }
  void over_all(double* sums, Index count) const { sum(sums, count, MPI_COMM_WORLD); }

  template <class Team>
  void to_packs(const State& s, const Team& team, const double* states, Pack* packs) {
    each_here(s, team, [&](Index state, Pack& pack) { std::copy_n(states + state, lanes, pack.at); });
    MPI_Alltoallv(here.data(), here_count.data(), here_at.data(), MPI_DOUBLE, there.data(), there_count.data(), there_at.data(), MPI_DOUBLE,
                  of_block);
    each_there(s, team, [&](Index pack, const Pack& arrived) { packs[pack] = arrived; });
  }
  template <class Team>
  void to_states(const State& s, const Team& team, const Pack* packs, double* states) {
    each_there(s, team, [&](Index pack, Pack& leaving) { leaving = packs[pack]; });
    MPI_Alltoallv(there.data(), there_count.data(), there_at.data(), MPI_DOUBLE, here.data(), here_count.data(), here_at.data(), MPI_DOUBLE,
                  of_block);
    each_here(s, team, [&](Index state, const Pack& pack) { std::copy_n(pack.at, lanes, states + state); });
  }

 private:
  static void sum(double* sums, Index count, MPI_Comm over) {
    const fl::In in(phases("reductions"));
    MPI_Allreduce(MPI_IN_PLACE, sums, static_cast<int>(count), MPI_DOUBLE, MPI_SUM, over);
  }
  // move(its first state among the states, its place in `here`): packs of a peer's group, cell by cell.
  template <class Team, class Move>
  void each_here(const State& s, const Team& team, const Move& move) {
    const Index cells = s.cells.size(), packs = s.p.states / lanes;
    team([&](Index share, Index shares) {
      const fl::Part mine = fl::part(cells, shares, share);
      for (Index b = 0; b < packs; ++b)
        for (Index c = mine.begin; c < mine.end; ++c) move((c * packs + b) * lanes, here[b * cells + c]);
    });
  }
  // move(its number among the packs, its place in `there`): from each peer, own packs of the peer's cells.
  template <class Team, class Move>
  void each_there(const State& s, const Team& team, const Move& move) {
    const Index cells = s.block.cells().cells(), own = packs_of(s.p, s.group).size();
    team([&](Index share, Index shares) {
      for (Index g = 0; g < s.p.groups; ++g) {
        const fl::Part theirs = fl::part(cells, s.p.groups, g), mine = fl::part(theirs.size(), shares, share);
        for (Index b = 0; b < own; ++b)
          for (Index c = mine.begin; c < mine.end; ++c)
            move(b * cells + theirs.begin + c, there[theirs.begin * own + b * theirs.size() + c]);
      }
    });
  }
};

}  // namespace rsdft
