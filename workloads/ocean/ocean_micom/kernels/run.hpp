// A run on processors: halos of the flow, what pushes the layers, sub-steps of the surface, the layers' thickness. Variants differ in how
// halos come and in who computes. Boxes are as wide as what is computed next needs: halos are three cells wide.
#pragma once

#include <algorithm>

#include "../restart.hpp"
#include "../sweeps.hpp"
#include "firstlight/grid/one_process.hpp"
#include "firstlight/variant.hpp"
#include "ocean_micom.hpp"
#include "surface.hpp"
#include "thickness.hpp"

namespace ocean_micom {

template <class Transport = grid::OneProcess, class Team = grid::Alone, class Ways = Right>
struct Run {
  grid::Exchange<3, Transport> first, halo, pushes, waves, sums;
  Team team;
  ocean::Restart restart;
  // The bands below have one element per thread.
  std::vector<Band<Following>> following_;
  std::vector<Band<Carrying>> carrying_;
  bool large_ = false;  // flows do not stay in caches

  void open(State& s) {
    restart.open("ocean_micom", s.team.rank);
    if constexpr (requires { team.threads; }) team.threads = s.team.threads;
    const Index layers = s.p.layers, columns = s.block.size()[2];
    for (Index n = 0; n < s.team.threads; ++n) {
      following_.emplace_back(layers, columns, Band<Following>::in_cache(layers, columns));
      carrying_.emplace_back(layers, columns, Band<Carrying>::in_cache(layers, columns));
    }
    large_ = ocean::beyond_caches(kept_fields * s.now.u.layout().elements, s.team.threads);
    const grid::Options options{.reach = grid::Reach::edges};
    Mean& m = s.mean;
    first.open(s.block, options, grid::by<Transport>(s.p.halo), s.now.u, s.now.v, s.now.h);
    halo.open(s.block, options, grid::by<Transport>(s.p.halo), s.next.u, s.next.v, s.next.h);
    pushes.open(s.surface, options, grid::by<Transport>(s.p.halo), m.push_u, m.push_v);
    waves.open(s.surface, options, grid::by<Transport>(s.p.halo), m.u, m.v, m.eta);
    sums.open(s.surface, options, grid::by<Transport>(s.p.halo), m.sum_u, m.sum_v);
  }
  void close(State&) {
    for (auto* exchange : {&first, &halo, &pushes, &waves, &sums}) exchange->close();
    restart.close();
  }

  void step(State& s, Index) {
    fl::during(phases("halo"), [&] { first(team); });
    ocean::copy(s.now, s.before);
    for (Index t = 0; t < s.p.steps; ++t) {
      if (s.p.restart > 0 && t > 0 && t % s.p.restart == 0) t = over_files(s, t);
      time_step(s, t == 0 ? s.dt : 2 * s.dt, t == 0 ? s.p.substeps : 2 * s.p.substeps);
      if (t > 0) fl::during(phases("momentum"), [&] { ocean::filter(s.before, s.now, s.next, s.p.filter, team); });
      std::swap(s.before, s.now);
      std::swap(s.now, s.next);
    }
  }
  // What a run that was killed and one that goes on do: all but the files is forgotten. Time steps that are done, of them.
  Index over_files(State& s, Index done) {
    fl::In in(phases("restart"));
    const ocean::Restart::Levels levels{&s.before, &s.now};
    restart.keep(done, levels);
    for (Flow* flow : {&s.now, &s.before, &s.next}) ocean::copy(s.start, *flow);  // as a new process has them
    for (Flow* level : levels) ocean::poison(*level);
    return restart.take(levels);
  }

  // Fills s.next from s.before and s.now, halos, too.
  void time_step(State& s, double span, Index substeps) {
    const Around around(s.block);
    fl::during(phases("momentum"), [&] {
      ocean::in_bands(team, s.block.size()[1], following_, [&](Following& of, const fl::Part& mine, const Strip& at) {
        s.p.form == Form::energy ? move<Form::energy>(s, of, span, mine, at) : move<Form::enstrophy>(s, of, span, mine, at);
      });
    });
    fl::during(phases("halo"), [&] { pushes(team); });
    sub_steps(s, around, span / static_cast<double>(substeps), substeps);
    fl::during(phases("halo"), [&] { sums(team); });
    fl::during(phases("momentum"), [&] {
      each(around.cells(0), [&](Index j, Index a, Index b) { settle<Ways>(s, span / static_cast<double>(substeps), j, a, b); });
    });
    fl::during(phases("thickness"), [&] {
      ocean::in_bands(team, s.block.size()[1], carrying_, [&](Carrying& of, const fl::Part& mine, const Strip& at) {
        thicken(s, of, span, 1 / static_cast<double>(substeps), mine, at);
      });
    });
    fl::during(phases("halo"), [&] { halo(team); });
  }

  // Two of them between messages: the first one a cell further out.
  void sub_steps(State& s, const Around& around, double dt, Index substeps) {
    for (Index n = 0; n < substeps; n += 2) {
      if (Ways::exchanged && n > 0) fl::during(phases("halo"), [&] { waves(team); });
      fl::during(phases("surface"), [&] { two(s, around, dt, n, n + 1 < substeps); });
    }
  }
  // Both, or the first one, on one way over the ocean: a line of the second follows one line behind. What a band and the next one need of
  // each other comes apart from that: the surface on a band's last line before the next band's flow moves on, and the second flow on its
  // first line after that surface of the band before has risen, which needs the first.
  void two(State& s, const Around& around, double dt, Index number, bool both) const {
    const auto on = [](const grid::Box<2>& box, const auto& row) {
      return [box, row](Index j) {
        if (j >= box.lower[0] && j < box.upper[0]) row(j, box.lower[1], box.upper[1]);
      };
    };
    const auto rises = [&](Index j, Index a, Index b) { rise(s, dt, j, a, b); };
    const auto rise_first = on(around.cells(2), rises), rise_second = on(around.cells(1), rises);
    const auto slide_first = on(around.faces(1), [&](Index j, Index a, Index b) { slide<Ways>(s, dt, number, j, a, b); });
    const auto slide_second = on(around.cells(0), [&](Index j, Index a, Index b) { slide<Ways>(s, dt, number + 1, j, a, b); });
    const auto each_band = [&](const auto& band) {
      const Index first = around.cells(2).lower[0];
      ocean::each_band(team, around.cells(2).size(0), [&](const fl::Part& mine, Index) { band(first + mine.begin, first + mine.end - 1); });
    };
    each_band([&](Index, Index last) { rise_first(last); });
    each_band([&](Index first, Index last) {
      for (Index j = first; j <= last; ++j) {
        if (j < last) rise_first(j);
        slide_first(j);
        if (both && j > first) rise_second(j - 1);
        if (both && j > first + 1) slide_second(j - 1);
      }
    });
    if (!both) return;
    each_band([&](Index, Index last) { rise_second(last); });
    each_band([&](Index first, Index last) {
      slide_second(first);
      if (last > first) slide_second(last);
    });
  }

  // The layers' next flow except for the surface's slope, and what the surface begins with.
  template <Form form>
  void move(State& s, Following& of, double span, const fl::Part& mine, const Strip& at) const {
    const bool curls = biharmonic(s.p) > 0;
    const Index last = s.block.size()[1], east = s.block.size()[2];
    // Depths at faces, and means over them: of the band's own lines and columns, and of those beyond the block that no other process has.
    const Index west_face = at.begin == 0 ? -2 : at.begin, east_face = at.end == east ? east + 3 : at.end;
    Index face = mine.begin == 0 ? -2 : mine.begin;
    const auto deepen = [&](Index end) {
      for (; face < end; ++face) {
        stack(s.now.h, of.under, s.p.layers, face, at.from, at.to);
        cut(s, of, face, west_face, east_face, large_), average(s, of, face, west_face, east_face);
      }
    };
    stack(s.now.h, of.under, s.p.layers, face - 1, at.from, at.to);
    for (Index j = mine.begin - 2; j < mine.end + 2; ++j) {
      ocean::rub(s, s.before, of.once, j, at.from, at.to, large_);
      if (j < mine.begin) continue;
      ocean::bend(s, of.once, of.bent, j - 1, at.from, at.to);
      for (Index k = 0; curls && k < s.p.layers; ++k) {
        ocean::swirl(s, of.bent, of.twice, k, j - 1, at.from, at.to);
        ocean::diverge(s, of.bent, of.twice, k, j - 2, at.from, at.to);
      }
      ocean::pressures(s, s.now.h, of, j - 1, at.from, at.to, 0);
      for (Index k = 0; k < s.p.layers; ++k) ocean::fluxes<false, Ways::kinetic>(s, s.now, of, k, j - 1, at.from, at.to, 0, large_);
      if (s.p.bounded()) bound_vorticity(s, of, j - 1, at.from, at.to);
      if (j < mine.begin + 2) continue;
      deepen(j - 1);
      push<form, Ways>(s, of, span, j - 2, at.begin, at.end, large_);
    }
    if (mine.end == last) deepen(last + 3);
  }

  // Their next thickness.
  void thicken(State& s, Carrying& of, double span, double share, const fl::Part& mine, const Strip& at) const {
    stack(s.before.h, of.under, s.p.layers, mine.begin - 3, at.from, at.to);
    for (Index j = mine.begin - 2; j < mine.end + 3; ++j) {
      stack(s.before.h, of.under, s.p.layers, j, at.from, at.to);
      carry(s, of, share, j, at.from, at.to, large_);
      if (j > mine.begin - 2) carried<Ways>(s, of, span, j - 1, at.from, at.to);
      if (j > mine.begin) bound(s, of, span, j - 2, at.from, at.to);
      if (j < mine.begin + 2) continue;
      if (Ways::limited) limit(s, of, j - 2, at.from, at.to), give_back(s, of, j - 2, at.from, at.to);
      if (j > mine.begin + 2) add(s, of, span, j - 3, at.begin, at.end, large_);
    }
  }

  template <class Row>
  void each(const grid::Box<2>& box, const Row& row) const {
    team([&](Index share, Index shares) {
      grid::each_row(grid::share_of(box, share, shares), [&](const grid::Point<2>& p, Index count) { row(p[0], p[1], p[1] + count); });
    });
  }
};

}  // namespace ocean_micom
