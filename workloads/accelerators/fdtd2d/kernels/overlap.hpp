// A run on several processes: messages travel while those cells are computed that need none of them.
#pragma once

#include "exchanged.hpp"
#include "run.hpp"

namespace fdtd2d {

template <class Team = grid::Alone>
struct Overlapped : Run<Exchanged, Team> {
  grid::Split<2> split;

  void open(State& s) {
    Run<Exchanged, Team>::open(s);
    split = grid::split(s.block, {1, 1});
  }

  void step(State& s, Index) {
    in_precision(s, [&](auto& a) {
      const auto job = job_on_host(s, a);
      for (Index t = 0; t < s.p.steps; ++t) {
        beside(this->halos.h, phases("electric"), [&](Index i, Index from, Index to) { row_e(job, i, from, to, t); });
        beside(this->halos.e, phases("magnetic"), [&](Index i, Index from, Index to) { row_h(job, i, from, to); });
      }
    });
  }

 private:
  // No cell needs another cell's new value of the same field, so the cells at the rim may follow in any order.
  template <class Row>
  void beside(grid::Exchange<2, grid::Mpi>& halo, fl::Phase phase, const Row& row) {
    fl::during(phases("halo"), [&] { halo.start(this->team); });
    fl::during(phase, [&] { this->team([&](Index share, Index shares) { rows_of(split.inner, share, shares, row); }); });
    fl::during(phases("halo"), [&] { halo.finish(this->team); });
    fl::during(phase, [&] {
      this->team([&](Index share, Index shares) {
        for (const auto& box : split.rim) rows_of(box, share, shares, row);
      });
    });
  }

  template <class Row>
  static void rows_of(const grid::Box<2>& box, Index share, Index shares, const Row& row) {
    grid::each_row(grid::share_of(box, share, shares), [&](const grid::Point<2>& p, Index count) { row(p[0], p[1], p[1] + count); });
  }
};

}  // namespace fdtd2d
