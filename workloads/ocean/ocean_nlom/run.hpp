// A run on processors: halos of the three fields, what follows from them in each cell, and the next stage. Variants differ in how halos
// come and in who computes.
#pragma once

#include <algorithm>

#include "../restart.hpp"
#include "../sweeps.hpp"
#include "diary.hpp"
#include "firstlight/grid/one_process.hpp"
#include "firstlight/variant.hpp"
#include "ocean_nlom.hpp"

namespace ocean_nlom::inline FL_ROLE {

inline constexpr Index part_of_line = 512;  // cells: what follows from four lines of five layers is half a megabyte

// What a variant does otherwise.
struct Right {
  static constexpr bool four_point_average = true, kinetic = true, coasts = true;
  static constexpr bool bands = true;  // of lines, a thread each; else all that follows from a flow before all that is made of it
  // Of semi-implicit runs: modes, southern wall, land and coarse grids of the solver, thickness, what neighbours know of the pressure,
  // what a run that is taken up knows of the step before.
  static constexpr bool weighted = true, walls = true, masked = true, coarse = true, from_fluxes = true, arrives = true, continues = true;
  static constexpr bool surfaces = true;  // what they store of energy is written down
};

template <class Transport = grid::OneProcess, class Team = grid::Alone, class Ways = Right>
struct Run {
  using Rows = grid::Box<2>;
  using View = grid::View<double, 3>;

  std::array<grid::Exchange<3, Transport>, 3> halos;
  Team team;
  ocean::Restart restart;
  std::vector<ocean::Lines> lines_;  // of each thread

  void open(State& s) {
    restart.open("ocean_nlom", s.team.rank);
    if constexpr (requires { team.threads; }) team.threads = s.team.threads;
    for (Index n = 0; n < s.team.threads; ++n) lines_.emplace_back(s.p.layers, std::min(s.block.size()[2], part_of_line));
    std::size_t n = 0;
    for (Flow* y : {&s.now, &s.third, &s.half})
      halos[n++].open(s.block, {.reach = grid::Reach::edges}, grid::by<Transport>(s.p.halo), y->u, y->v, y->h);
  }
  void close(State&) {
    for (auto& halo : halos) halo.close();
    restart.close();
  }

  void step(State& s, Index) {
    forget(s);
    for (Index t = 0; t < s.p.steps; ++t) {
      if (breaks(s, t)) t = over_files(s, t, {&s.now});
      if (told(s, t)) write(s);
      time_step(s);
    }
    if (s.p.diary > 0) write(s);
  }
  static void forget(State& s) { s.mass.clear(), s.energy.clear(), s.enstrophy.clear(); }
  static bool told(const State& s, Index done) { return s.p.diary > 0 && done % s.p.diary == 0; }
  void write(State& s) {
    fl::during(phases("halo"), [&] { halos[0](team); });
    fl::during(phases("diary"), [&] { write_down<Ways>(s, s.now); });
  }
  static bool breaks(const State& s, Index done) { return s.p.restart > 0 && done > 0 && done % s.p.restart == 0; }
  // What a run that was killed and one that goes on do: all but the files is forgotten. Time steps that are done, of them.
  Index over_files(State& s, Index done, const ocean::Restart::Levels& levels) {
    fl::In in(phases("restart"));
    restart.keep(done, levels);
    for (Flow* flow : {&s.now, &s.third, &s.half}) ocean::copy(s.start, *flow);  // as a new process has them
    for (Flow* level : levels) ocean::poison(*level);
    return restart.take(levels);
  }
  void time_step(State& s) {
    stage(s, 0, s.now, s.third, s.dt / 3);
    stage(s, 1, s.third, s.half, s.dt / 2);
    stage(s, 2, s.half, s.now, s.dt);
  }

  void stage(State& s, std::size_t number, Flow& from, Flow& to, double dt) {
    fl::during(phases("halo"), [&] { halos[number](team); });
    const grid::Box<3> cells = s.block.cells();
    const Rows own{{cells.lower[1], cells.lower[2]}, {cells.upper[1], cells.upper[2]}};
    if constexpr (Ways::bands) {
      fl::during(phases("advance"), [&] {
        team([&](Index share, Index shares) {
          band(s, lines_[static_cast<std::size_t>(share)], fl::part(own.size(0), shares, share), from, to, dt);
        });
      });
    } else {
      fl::during(phases("diagnose"), [&] { each(own.grown({1, 1}), [&](Index j, Index a, Index b) { diagnose(s, from, s, j, a, b); }); });
      fl::during(phases("advance"),
                 [&] { each(own, [&](Index j, Index a, Index b) { advance(s, s, s.now, from, from, to, dt, j, a, b); }); });
    }
    curve(s, from, to, dt);
  }
  // What a viscosity of the fourth derivatives of `flow` changes. Halos of two cells are just wide enough for two differences each way.
  void curve(State& s, const Flow& flow, Flow& to, double dt) {
    if (biharmonic(s.p) == 0) return;
    const grid::Box<3> cells = s.block.cells();
    const Rows own{{cells.lower[1], cells.lower[2]}, {cells.upper[1], cells.upper[2]}}, around = own.grown({1, 1});
    fl::during(phases("advance"), [&] {
      each({around.lower, {around.upper[0] + 1, around.upper[1] + 1}}, [&](Index j, Index a, Index b) { ocean::swirl(s, flow, j, a, b); });
      each({{around.lower[0] - 1, around.lower[1] - 1}, around.upper},
           [&](Index j, Index a, Index b) { ocean::diverge(s, flow, j, a, b); });
      each(around, [&](Index j, Index a, Index b) { ocean::bend(s, j, a, b); });
      each({own.lower, around.upper}, [&](Index j, Index a, Index b) { ocean::swirl(s, s.bent, j, a, b); });
      each({around.lower, own.upper}, [&](Index j, Index a, Index b) { ocean::diverge(s, s.bent, j, a, b); });
      each(own, [&](Index j, Index a, Index b) { straighten(s, to, dt * biharmonic(s.p), j, a, b); });
    });
  }
  static void straighten(State& s, Flow& to, double part, Index j, Index begin, Index end) {
    const double x = part / s.p.dx(), y = part / s.p.dy();
    const double *open_u = &s.face_u.view()(0, j, 0), *open_v = &s.face_v.view()(0, j, 0);
    for (Index k = 0; k < s.p.layers; ++k) {
      const double *z = &s.vorticity.view()(k, j, 0), *d = &s.spread.view()(k, j, 0);
      const double *zn = z + s.vorticity.view().stride[1], *ds = d - s.spread.view().stride[1];
      double *u = &to.u.view()(k, j, 0), *v = &to.v.view()(k, j, 0);
      OCEAN_ANY_ORDER
      for (Index i = begin; i < end; ++i) {
        u[i] -= ((d[i] - d[i - 1]) * x - (zn[i] - z[i]) * y) * open_u[i];
        v[i] -= ((d[i] - ds[i]) * y + (z[i + 1] - z[i]) * x) * open_v[i];
      }
    }
  }
  // Some lines, from end to end: what follows from a line is used while it is in the cache, and is nobody else's. Long lines in parts.
  static void band(State& s, ocean::Lines& lines, const fl::Part& mine, Flow& from, Flow& to, double dt) {
    if (mine.size() == 0) return;
    const Index across = s.block.size()[2];
    for (Index a = 0; a < across; a += part_of_line) {
      const Index b = std::min(across, a + part_of_line);
      lines.begin_at(a);
      const auto follow = [&](Index j) { diagnose(s, from, lines, j, a - 1, b + 1); };
      follow(mine.begin - 1), follow(mine.begin);
      for (Index j = mine.begin; j < mine.end; ++j) {
        follow(j + 1);
        advance(s, lines, s.now, from, from, to, dt, j, a, b);
      }
    }
  }

  template <class Row>
  void each(const Rows& box, const Row& row) const {
    team([&](Index share, Index shares) {
      grid::each_row(grid::share_of(box, share, shares), [&](const grid::Point<2>& p, Index count) { row(p[0], p[1], p[1] + count); });
    });
  }

  // Fluxes, vorticity, divergence and M + K on the line j, of all layers; semi-implicitly K alone.
  template <class Followed>
  static void diagnose(State& s, Flow& from, Followed& to, Index j, Index begin, Index end) {
    if (s.p.linear())
      ocean::fluxes<true>(s, from, to, j, begin, end);
    else
      ocean::fluxes<false>(s, from, to, j, begin, end);
    if (s.p.time == Time::explicitly)
      ocean::pressures(s, from.h, to, j, begin, end);
    else
      for (Index k = 0; k < s.p.layers; ++k) std::fill(&to.head.view()(k, j, begin), &to.head.view()(k, j, end), 0.0);
    if (Ways::kinetic && !s.p.linear()) ocean::kinetic(s, from, to, j, begin, end);
  }

  // The next stage on the line j: `first` and dt times the tendencies of `from`; the bottom drags `dragged`.
  template <class Followed>
  static void advance(State& s, Followed& of, const Flow& first, const Flow& from, const Flow& dragged, Flow& to, double dt, Index j,
                      Index begin, Index end) {
    if (s.p.form == Form::energy)
      advance_by<Form::energy>(s, of, first, from, dragged, to, dt, j, begin, end);
    else
      advance_by<Form::enstrophy>(s, of, first, from, dragged, to, dt, j, begin, end);
  }
  template <Form form, class Followed>
  static void advance_by(State& s, Followed& of, const Flow& first, const Flow& from, const Flow& dragged, Flow& to, double dt, Index j,
                         Index begin, Index end) {
    const Params& p = s.p;
    const double rdx = 1 / p.dx(), rdy = 1 / p.dy(), a = viscosity(p);
    const double* open_u = &s.face_u.view()(0, j, 0);
    const double* open_v = &s.face_v.view()(0, j, 0);
    for (Index k = 0; k < p.layers; ++k) {
      const double wind = k == 0 ? ocean::stress_at(p, s.block.owned.lower[1] + j, s.wind) / ocean::density : 0,
                   r = k == p.layers - 1 ? drag(p) : 0;
      const auto at = [&](auto& field, Index north = 0) { return &field.view()(k, j + north, 0); };
      const double *fu = at(of.flux_u), *fus = at(of.flux_u, -1), *fv = at(of.flux_v), *fvn = at(of.flux_v, 1);
      const double *q = at(of.potential), *qn = at(of.potential, 1), *z = at(of.vorticity), *zn = at(of.vorticity, 1);
      const double *m = at(of.head), *ms = at(of.head, -1), *d = at(of.spread), *ds = at(of.spread, -1);
      const double *u = at(dragged.u), *v = at(dragged.v), *h = at(from.h), *u0 = at(first.u), *v0 = at(first.v), *h0 = at(first.h);
      double *u1 = at(to.u), *v1 = at(to.v), *h1 = at(to.h);
      OCEAN_ANY_ORDER
      for (Index i = begin; i < end; ++i) {
        double turn_u = ocean::turned_u<form>(q, qn, fv, fvn, i);
        const double turn_v = ocean::turned_v<form>(q, fus, fu, i);
        if constexpr (!Ways::four_point_average) turn_u = 0.5 * (q[i] + qn[i]) * fv[i];
        const double push_u = k > 0 ? 0 : wind * 2 / (h[i - 1] + h[i] + (1 - open_u[i]));
        const double rub_u = a * ((d[i] - d[i - 1]) * rdx - (zn[i] - z[i]) * rdy) - r * u[i];
        const double rub_v = a * ((d[i] - ds[i]) * rdy + (z[i + 1] - z[i]) * rdx) - r * v[i];
        const double du = turn_u - (m[i] - m[i - 1]) * rdx + rub_u + push_u;
        const double dv = -turn_v - (m[i] - ms[i]) * rdy + rub_v;
        u1[i] = u0[i] + dt * du * (Ways::coasts ? open_u[i] : 1);
        v1[i] = v0[i] + dt * dv * (Ways::coasts ? open_v[i] : 1);
        h1[i] = h0[i] - dt * ((fu[i + 1] - fu[i]) * rdx + (fvn[i] - fv[i]) * rdy);
      }
    }
  }
};

}  // namespace ocean_nlom::inline FL_ROLE
