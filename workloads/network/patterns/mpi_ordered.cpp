// Blocking sends and receives, one after the other. All ranks take the messages of a phase in the same order, by sender and receiver: of
// those not done yet the first has nothing before it on either side, so no order of arrival can lock it, however long messages are.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "kernels/steps.hpp"

namespace {

struct Turn {
  int from, to;
  std::size_t number;  // in Stage::out or Stage::in
};

struct InTurn {
  std::vector<std::vector<Turn>> turns;  // of each phase
  int me = 0;

  void open(const patterns::State& s) {
    me = s.team.rank;
    for (const patterns::Stage& g : s.stages) {
      std::vector<Turn>& all = turns.emplace_back();
      for (std::size_t k = 0; k < g.out.size(); ++k) all.push_back({me, g.out[k].peer, k});
      for (std::size_t k = 0; k < g.in.size(); ++k)
        if (g.in[k].peer != me) all.push_back({g.in[k].peer, me, k});
      std::ranges::stable_sort(all, {}, [](const Turn& t) { return std::tuple(t.from, t.to); });
    }
  }

  void close() {}

  void exchange(const patterns::State& s, patterns::Stage& g, std::size_t phase, fl::Index t) {
    std::size_t own = 0;  // of the messages to this rank itself, which are copied
    for (const Turn& turn : turns[phase]) {
      if (turn.from != me) {
        const patterns::Channel& c = g.in[turn.number];
        MPI_Recv(c.words, static_cast<int>(c.n), MPI_UINT64_T, c.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        continue;
      }
      const patterns::Channel& c = g.out[turn.number];
      renew(s, c, t);
      if (turn.to != me) {
        MPI_Send(c.words, static_cast<int>(c.n), MPI_UINT64_T, c.peer, 0, MPI_COMM_WORLD);
        continue;
      }
      while (g.in[own].peer != me) ++own;
      std::memcpy(g.in[own++].words, c.words, static_cast<std::size_t>(c.n) * sizeof(patterns::Word));
    }
  }
};

using Iteration = patterns::Steps<InTurn>;

}  // namespace

FL_VARIANT(patterns, Iteration)
