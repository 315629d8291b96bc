// A run on processors: E, its halo, H, its halos, time step by time step. Variants differ in how halos come (`Halos`) and in who
// computes (`Team`).
#pragma once

#include "firstlight/grid/team.hpp"
#include "firstlight/variant.hpp"
#include "own_neighbour.hpp"
#include "rows.hpp"

namespace fdtd2d {

template <class Halos = OwnNeighbour, class Team = grid::Alone>
struct Run {
  Halos halos;
  Team team;

  void open(State& s) {
    if constexpr (requires { team.threads; }) team.threads = s.team.threads;
    halos.open(s);
  }

  void step(State& s, Index) {
    in_precision(s, [&](auto& a) {
      const auto job = job_on_host(s, a);
      for (Index t = 0; t < s.p.steps; ++t) {
        fl::during(phases("halo"), [&] { halos.of_h(job, team); });
        fl::during(phases("electric"), [&] { sweep(s, [&](Index i, Index from, Index to) { row_e(job, i, from, to, t); }); });
        fl::during(phases("halo"), [&] { halos.of_e(job, team); });
        fl::during(phases("magnetic"), [&] { sweep(s, [&](Index i, Index from, Index to) { row_h(job, i, from, to); }); });
      }
    });
  }

  template <class Row>
  void sweep(const State& s, const Row& row) const {
    team([&](Index share, Index shares) {
      grid::each_row(grid::share_of(s.block.cells(), share, shares),
                     [&](const grid::Point<2>& p, Index count) { row(p[0], p[1], p[1] + count); });
    });
  }
};

}  // namespace fdtd2d
