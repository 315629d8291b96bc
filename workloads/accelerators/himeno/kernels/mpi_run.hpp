// Runs on several ranks: variants differ in how halos travel and in who computes.
#pragma once

#include "firstlight/grid/exchange.hpp"
#include "firstlight/grid/mpi.hpp"
#include "firstlight/variant.hpp"
#include "run.hpp"
#include "threads.hpp"
#include "vectors.hpp"

namespace himeno {

// GOSA is summed in every sweep, as the benchmark does.
inline double over_ranks(double mine) {
  const fl::In in(phases("sum"));
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// Messages travel while the points are computed that need no halo: those in pieces, between which MPI gets a word in.
template <class Body, class Team = grid::Alone, class Exchange = grid::Exchange<3, grid::Mpi>>
struct Overlapped {
  static constexpr Index pieces = 8;

  Exchange halo;
  Team team;
  int threads = 1;
  grid::Split<3> split;

  void open(State& s) {
    threads = s.team.threads;
    if constexpr (requires { team.threads; }) team.threads = threads;
    halo.open(s.block, {.reach = grid::Reach::edges}, {}, s.p);
    split = grid::split(s.block, s.block.domain.halo);
  }
  void step(State& s, Index) {
    for (Index t = 0; t < s.params.sweeps; ++t, std::swap(s.p, s.next)) {
      double sum = 0;
      fl::during(phases("halo"), [&] { halo.start(team); });
      fl::during(phases("inner"), [&] { sum += inner(s); });
      fl::during(phases("halo"), [&] { halo.finish(team); });
      fl::during(phases("rim"), [&] { sum += rim(s); });
      s.gosa = over_ranks(sum);
    }
  }

 private:
  // What a thread touched first, it computes.
  grid::Box<3> share(const State& s, const grid::Box<3>& box, Index share, Index shares) const {
    return grid::intersection(box, grid::share_of(s.block.cells(), share, shares));
  }
  double inner(State& s) {
    return summed(team, threads, [&](Index number, Index shares) {
      const grid::Box<3> mine = share(s, split.inner, number, shares);
      double sum = 0;
      for (Index n = 0; n < pieces; ++n) {
        sum += sweep(s, grid::share_of(mine, n, pieces), Body{});
        if (number == 0) halo.progress();
      }
      return sum;
    });
  }
  double rim(State& s) {
    return summed(team, threads, [&](Index number, Index shares) {
      double sum = 0;
      for (const grid::Box<3>& box : split.rim) sum += sweep(s, share(s, box, number, shares), Body{});
      return sum;
    });
  }
};

}  // namespace himeno
