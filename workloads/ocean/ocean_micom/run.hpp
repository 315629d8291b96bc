// A run on processors: halos of the flow, what pushes the layers, sub-steps of the surface, the layers' thickness. Variants differ in how halos
// come and in who computes. Boxes are as wide as what is asked next needs: halos are three cells wide.
#pragma once

#include <algorithm>

#include "../restart.hpp"
#include "../sweeps.hpp"
#include "firstlight/grid/one_process.hpp"
#include "firstlight/variant.hpp"
#include "ocean_micom.hpp"
#include "surface.hpp"
#include "thickness.hpp"

namespace ocean_micom::inline FL_ROLE {

template <class Transport = grid::OneProcess, class Team = grid::Alone, class Ways = Right>
struct Run {
  grid::Exchange<3, Transport> first, halo, pushes, waves, sums;
  Team team;
  ocean::Restart restart;

  void open(State& s) {
    restart.open("ocean_micom", s.team.rank);
    if constexpr (requires { team.threads; }) team.threads = s.team.threads;
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
    fl::during(phases("diagnose"), [&] {
      each(around.cells(1), [&](Index j, Index a, Index b) {
        ocean::pressures(s, s.now.h, s, j, a, b, 0);
        for (Index k = 0; k < s.p.layers; ++k) ocean::fluxes<false, Ways::kinetic>(s, s.now, s, k, j, a, b);
        if (s.p.bounded()) bound_vorticity(s, j, a, b);
      });
      each(around.cells(2), [&](Index j, Index a, Index b) { ocean::rub(s, s.before, j, a, b); });
      each(around.cells(1), [&](Index j, Index a, Index b) { ocean::bend(s, j, a, b); });
      if (biharmonic(s.p) > 0) each(around.cells(1), [&](Index j, Index a, Index b) { ocean::rub(s, s.bent, j, a, b); });
      each(around.cells(3), [&](Index j, Index a, Index b) {
        stack(s.now.h, s.under, s.p.layers, j, a, b);
        stack(s.before.h, s.under_before, s.p.layers, j, a, b);
      });
      each(around.faces(2), [&](Index j, Index a, Index b) { cut(s, j, a, b), average(s, j, a, b); });
    });
    fl::during(phases("momentum"), [&] {
      each(around.cells(0), [&](Index j, Index a, Index b) {
        if (s.p.form == Form::energy)
          push<Form::energy, Ways>(s, span, j, a, b);
        else
          push<Form::enstrophy, Ways>(s, span, j, a, b);
      });
    });
    fl::during(phases("halo"), [&] { pushes(team); });
    sub_steps(s, around, span / static_cast<double>(substeps), substeps);
    fl::during(phases("halo"), [&] { sums(team); });
    fl::during(phases("momentum"), [&] {
      each(around.cells(0), [&](Index j, Index a, Index b) { settle<Ways>(s, span / static_cast<double>(substeps), j, a, b); });
    });
    fl::during(phases("thickness"), [&] { thicken(s, around, span, 1 / static_cast<double>(substeps)); });
    fl::during(phases("halo"), [&] { halo(team); });
  }

  // Two of them between messages: the first one a cell further out.
  void sub_steps(State& s, const Around& around, double dt, Index substeps) {
    for (Index n = 0; n < substeps; ++n) {
      const Index reach = n % 2 == 0 ? 2 : 1;
      if (Ways::asked && n > 0 && reach == 2) fl::during(phases("halo"), [&] { waves(team); });
      fl::during(phases("surface"), [&] {
        each(around.cells(reach), [&](Index j, Index a, Index b) { rise(s, dt, j, a, b); });
        each(reach == 2 ? around.faces(1) : around.cells(0), [&](Index j, Index a, Index b) { slide<Ways>(s, dt, n, j, a, b); });
      });
    }
  }

  void thicken(State& s, const Around& around, double span, double share) {
    each(around.faces(2), [&](Index j, Index a, Index b) { carry(s, share, j, a, b); });
    each(around.cells(2), [&](Index j, Index a, Index b) { carried<Ways>(s, span, j, a, b); });
    each(around.cells(1), [&](Index j, Index a, Index b) { bound(s, span, j, a, b); });
    if (Ways::limited) each(around.faces(0), [&](Index j, Index a, Index b) { limit(s, j, a, b), give_back(s, j, a, b); });
    each(around.cells(0), [&](Index j, Index a, Index b) { add(s, span, j, a, b); });
  }

  template <class Row>
  void each(const grid::Box<2>& box, const Row& row) const {
    team([&](Index share, Index shares) {
      grid::each_row(grid::share_of(box, share, shares), [&](const grid::Point<2>& p, Index count) { row(p[0], p[1], p[1] + count); });
    });
  }
};

}  // namespace ocean_micom::inline FL_ROLE
