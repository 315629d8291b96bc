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

namespace ocean_nlom {

inline constexpr Index piece_of_line = 128;  // cells of a layer that are still in the first cache, or near it, when they are advanced

// What a variant does otherwise.
struct Right {
  static constexpr bool four_point_average = true, kinetic = true, coasts = true;
  static constexpr bool joins_last = true;  // strips receive adjacent columns when halos have arrived
  static constexpr bool bands = true;       // of lines, a thread each; else all that follows from a flow before all that is made of it
  // Semi-implicit runs need these: modes, southern wall, land and coarse grids of the solver, thickness, what neighbours know of the
  // pressure, what a run that is taken up knows of the step before.
  static constexpr bool weighted = true, walls = true, masked = true, coarse = true, from_fluxes = true, arrives = true, continues = true;
  static constexpr bool surfaces = true;  // what they store of energy is written down
};

template <class Transport = grid::OneProcess, class Team = grid::Alone, class Ways = Right>
struct Run {
  using Rows = grid::Box<2>;
  using V = ocean::V;

  std::array<grid::Exchange<3, Transport>, 3> halos;
  Team team;
  ocean::Restart restart;
  std::vector<ocean::Band<ocean::Lines>> bands_;  // of each thread
  bool large_ = false;                            // flows do not stay in caches

  void open(State& s) {
    restart.open("ocean_nlom", s.team.rank);
    if constexpr (requires { team.threads; }) team.threads = s.team.threads;
    // Bands keep a few lines of what follows from a flow; a viscosity of the fourth derivatives goes over whole arrays.
    std::array<grid::Field<double, 3>*, 2> curved{&s.vorticity, &s.spread};
    if (!Ways::bands)
      ocean::keep_whole(s, s.diagnosed());
    else if (biharmonic(s.p) > 0)
      ocean::keep_whole(s, curved);
    const auto& cut = s.now.u.layout();
    const Index width = cut.strips > 1 ? cut.width : std::min(cut.width, s.p.strip);
    for (Index n = 0; n < s.team.threads; ++n) bands_.emplace_back(s.p.layers, cut.size[2], width);
    large_ = ocean::beyond_caches(9 * s.now.u.layout().elements, s.team.threads);
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
      if (writes_diary(s, t)) write(s);
      time_step(s);
    }
    if (s.p.diary > 0) write(s);
  }
  static void forget(State& s) { s.mass.clear(), s.energy.clear(), s.enstrophy.clear(); }
  static bool writes_diary(const State& s, Index done) { return s.p.diary > 0 && done % s.p.diary == 0; }
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
    if (!Ways::joins_last) join(from);
    fl::during(phases("halo"), [&] { halos[number](team); });
    if (Ways::joins_last) fl::during(phases("advance"), [&] { join(from); });
    tend(s, s.now, from, from, to, dt);
    curve(s, from, to, dt);
  }
  // The copies of adjacent columns in strips.
  void join(Flow& flow) const {
    if (flow.u.layout().strips == 1) return;
    team([&](Index share, Index shares) {
      for (auto* field : flow.all()) field->join(share, shares);
    });
  }
  // `to`: `first` and dt times the tendencies of `from`, rubbed as `dragged` is.
  void tend(State& s, Flow& first, Flow& from, Flow& dragged, Flow& to, double dt) {
    const grid::Box<3> cells = s.block.cells();
    const Rows own{{cells.lower[1], cells.lower[2]}, {cells.upper[1], cells.upper[2]}};
    if constexpr (Ways::bands) {
      fl::during(phases("advance"), [&] {
        ocean::in_bands(team, own.size(0), bands_, [&](ocean::Lines& lines, const fl::Part& mine, const ocean::Strip& at) {
          band(s, lines, mine, at, first, from, dragged, to, dt);
        });
      });
    } else {
      fl::during(phases("diagnose"), [&] {
        each_strip(s, own.grown({1, 1}), [&](Index j, Index a, Index b, Index strip) { diagnose(s, from, dragged, s, j, a, b, strip); });
      });
      fl::during(phases("advance"), [&] {
        each_strip(s, own, [&](Index j, Index a, Index b, Index strip) {
          for (Index k = 0; k < s.p.layers; ++k) advance(s, s, first, from, dragged, to, dt, k, j, a, b, strip);
        });
      });
    }
  }
  // What a viscosity of the fourth derivatives of `flow` changes. Halos of two cells are just wide enough for two differences each way.
  void curve(State& s, Flow& flow, Flow& to, double dt) {
    if (biharmonic(s.p) == 0) return;
    const grid::Box<3> cells = s.block.cells();
    const Rows own{{cells.lower[1], cells.lower[2]}, {cells.upper[1], cells.upper[2]}}, around = own.grown({1, 1});
    fl::during(phases("advance"), [&] {
      each_strip(s, {around.lower, {around.upper[0] + 1, around.upper[1] + 1}}, [&](Index j, Index a, Index b, Index strip) {
        for (Index k = 0; k < s.p.layers; ++k) ocean::swirl(s, flow, s, k, j, a, b, strip);
      });
      each_strip(s, {{around.lower[0] - 1, around.lower[1] - 1}, around.upper}, [&](Index j, Index a, Index b, Index strip) {
        for (Index k = 0; k < s.p.layers; ++k) ocean::diverge(s, flow, s, k, j, a, b, strip);
      });
      each(around, [&](Index j, Index a, Index b) { ocean::bend(s, s, s.bent, j, a, b); });
      each({own.lower, around.upper}, [&](Index j, Index a, Index b) {
        for (Index k = 0; k < s.p.layers; ++k) ocean::swirl(s, s.bent, s, k, j, a, b);
      });
      each({around.lower, own.upper}, [&](Index j, Index a, Index b) {
        for (Index k = 0; k < s.p.layers; ++k) ocean::diverge(s, s.bent, s, k, j, a, b);
      });
      each_strip(s, own, [&](Index j, Index a, Index b, Index strip) { straighten(s, to, dt * biharmonic(s.p), j, a, b, strip); });
    });
  }
  static void straighten(State& s, Flow& to, double part, Index j, Index begin, Index end, Index strip = 0) {
    const double x = part / s.p.dx(), y = part / s.p.dy();
    const double *open_u = &s.face_u.view()(0, j, 0), *open_v = &s.face_v.view()(0, j, 0);
    for (Index k = 0; k < s.p.layers; ++k) {
      const double *z = &s.vorticity.view()(k, j, 0), *d = &s.spread.view()(k, j, 0);
      const double *zn = z + s.vorticity.view().stride[1], *ds = d - s.spread.view().stride[1];
      double *u = &to.u.view()(k, j, 0) + strip, *v = &to.v.view()(k, j, 0) + strip;
      ocean::in_vectors(
          begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
            using ocean::at;
            const V d0 = at(d + i), z0 = at(z + i);
            put(u + i, at(u + i) - ((d0 - at(d + i - 1)) * x - (at(zn + i) - z0) * y) * at(open_u + i));
            put(v + i, at(v + i) - ((d0 - at(ds + i)) * y + (at(z + i + 1) - z0) * x) * at(open_v + i));
          });
    }
  }
  // A strip of some lines: what follows from a line is used while it is in the cache, and by no other thread. A piece at a time of each
  // layer: what follows from the line to the north, then the next stage, a vector behind, for it looks east.
  void band(State& s, ocean::Lines& lines, const fl::Part& mine, const ocean::Strip& at, Flow& first, Flow& from, Flow& dragged, Flow& to,
            double dt) const {
    const auto& cut = from.u.layout();
    const Index a = at.begin, b = at.end, west = a - ocean::lanes, strip = cut.strip(a) * cut.jump;
    for (Index j = mine.begin - 1; j <= mine.begin; ++j) diagnose(s, from, dragged, lines, j, west, b + 1, strip);
    for (Index j = mine.begin; j < mine.end; ++j) {
      Index done = a;
      for (Index c = west; c < b + 1; c += piece_of_line) {
        const Index stop = std::min(c + piece_of_line, b + 1), ready = stop == b + 1 ? b : stop - ocean::lanes;
        press(s, from, lines, j + 1, c, stop, strip);
        for (Index k = 0; k < s.p.layers; ++k) {
          follow(s, from, dragged, lines, k, j + 1, c, stop, strip);
          advance(s, lines, first, from, dragged, to, dt, k, j, done, ready, strip);
        }
        done = ready;
      }
    }
  }

  template <class Row>
  void each(const Rows& box, const Row& row) const {
    team([&](Index share, Index shares) {
      grid::each_row(grid::share_of(box, share, shares), [&](const grid::Point<2>& p, Index count) { row(p[0], p[1], p[1] + count); });
      fl::nontemporal::fence();
    });
  }

  // row(j, begin, end, strip): of each row what is in one strip of flows.
  template <class Row>
  void each_strip(const State& s, const Rows& box, const Row& row) const {
    const auto& cut = s.now.u.layout();
    each(box, [&](Index j, Index a, Index b) {
      cut.each_strip({{0, j, a}, {1, j + 1, b}},
                     [&](const grid::Box<3>& part, Index n) { row(j, part.lower[2], part.upper[2], n * cut.jump); });
    });
  }

  // Fluxes, vorticity, divergence and M + K on the line j, of all layers; semi-implicitly K alone.
  template <class Followed>
  void diagnose(State& s, Flow& from, Flow& dragged, Followed& to, Index j, Index begin, Index end, Index strip) const {
    press(s, from, to, j, begin, end, strip);
    for (Index k = 0; k < s.p.layers; ++k) follow(s, from, dragged, to, k, j, begin, end, strip);
  }
  // M, of all layers,
  template <class Followed>
  static void press(State& s, Flow& from, Followed& to, Index j, Index begin, Index end, Index strip) {
    if (s.p.time == Time::explicitly)
      ocean::pressures(s, from.h, to, j, begin, end, gravity, strip);
    else
      for (Index k = 0; k < s.p.layers; ++k) std::fill(&to.head.view()(k, j, begin), &to.head.view()(k, j, end), 0.0);
  }
  // and all else of one.
  template <class Followed>
  void follow(State& s, Flow& from, Flow& dragged, Followed& to, Index k, Index j, Index begin, Index end, Index strip) const {
    if (s.p.linear())
      ocean::fluxes<true, false>(s, from, to, k, j, begin, end, strip, large_);
    else
      ocean::fluxes<false, Ways::kinetic>(s, from, to, k, j, begin, end, strip, large_);
    if (&dragged == &from) return;
    ocean::swirl(s, dragged, to, k, j, begin, end, strip, large_), ocean::diverge(s, dragged, to, k, j, begin, end, strip);
  }

  // The next stage on the line j: `first` and dt times the tendencies of `from`; the bottom drags `dragged`.
  template <class Followed>
  void advance(State& s, Followed& of, const Flow& first, const Flow& from, const Flow& dragged, Flow& to, double dt, Index k, Index j,
               Index begin, Index end, Index strip) const {
    const auto by = [&]<Form form>() {
      if (k == 0)
        advance_by<form, true>(s, of, first, from, dragged, to, dt, k, j, begin, end, strip);
      else
        advance_by<form, false>(s, of, first, from, dragged, to, dt, k, j, begin, end, strip);
    };
    s.p.form == Form::energy ? by.template operator()<Form::energy>() : by.template operator()<Form::enstrophy>();
  }
  template <Form form, bool top, class Followed>
  void advance_by(State& s, Followed& of, const Flow& first, const Flow& from, const Flow& dragged, Flow& to, double dt, Index k, Index j,
                  Index begin, Index end, Index strip) const {
    using ocean::at, ocean::line, ocean::origin;
    const Params& p = s.p;
    const double rdx = 1 / p.dx(), rdy = 1 / p.dy(), a = viscosity(p), r = k == p.layers - 1 ? drag(p) : 0;
    const double wind = top ? ocean::stress_at(p, s.block.owned.lower[1] + j, s.wind) / ocean::density : 0;
    const Index flat = line(s.face_u.view(), 0, j), flow = line(to.u.view(), k, j) + strip;
    const Index pitch = to.u.view().stride[1], pitch_flat = s.face_u.view().stride[1];
    const Index made = line(of.head.view(), k, j), south = line(of.head.view(), k, j - 1), north = line(of.head.view(), k, j + 1);
    const double *open_u = origin(s.face_u) + flat, *open_v = origin(s.face_v) + flat;
    const double *fu = origin(of.flux_u) + made, *fus = origin(of.flux_u) + south;
    const double *fv = origin(of.flux_v) + made, *fvn = origin(of.flux_v) + north;
    const double *q = origin(of.potential) + made, *qn = origin(of.potential) + north;
    const double *z = origin(of.vorticity) + made, *zn = origin(of.vorticity) + north;
    const double *m = origin(of.head) + made, *ms = origin(of.head) + south, *d = origin(of.spread) + made, *ds = origin(of.spread) + south;
    const double *u = origin(dragged.u) + flow, *v = origin(dragged.v) + flow, *h = origin(from.h) + flow;
    const double *u0 = origin(first.u) + flow, *v0 = origin(first.v) + flow, *h0 = origin(first.h) + flow;
    double *u1 = origin(to.u) + flow, *v1 = origin(to.v) + flow, *h1 = origin(to.h) + flow;
    const bool fetch = large_ && &first != &from, past = fl::nontemporal::available && large_ && &first != &to;
    ocean::in_vectors(
        begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
          V turn_u = ocean::turned_u<form>(q, qn, fv, fvn, i);
          const V turn_v = ocean::turned_v<form>(q, fus, fu, i);
          if constexpr (!Ways::four_point_average) turn_u = 0.5 * (at(q + i) + at(qn + i)) * at(fv + i);
          const V d_here = at(d + i), z_here = at(z + i), m_here = at(m + i), coast_u = at(open_u + i), coast_v = at(open_v + i);
          const V rub_u = a * ((d_here - at(d + i - 1)) * rdx - (at(zn + i) - z_here) * rdy) - r * at(u + i);
          const V rub_v = a * ((d_here - at(ds + i)) * rdy + (at(z + i + 1) - z_here) * rdx) - r * at(v + i);
          V du = turn_u - (m_here - at(m + i - 1)) * rdx + rub_u;
          if constexpr (top) du += wind * 2 / (at(h + i - 1) + at(h + i) + (1 - coast_u));
          const V dv = -turn_v - (m_here - at(ms + i)) * rdy + rub_v;
          const V u_next = at(u0 + i) + dt * du * (Ways::coasts ? coast_u : ocean::all(1));
          const V v_next = at(v0 + i) + dt * dv * (Ways::coasts ? coast_v : ocean::all(1));
          const V h_next = at(h0 + i) - dt * ((at(fu + i + 1) - at(fu + i)) * rdx + (at(fvn + i) - at(fv + i)) * rdy);
          if (fetch) ocean::fetch_later(u0 + pitch + i, v0 + pitch + i, h0 + pitch + i);
          if (top && large_) ocean::fetch_later(open_u + pitch_flat + i, open_v + pitch_flat + i);
          put(u1 + i, u_next, past), put(v1 + i, v_next, past), put(h1 + i, h_next, past);
        });
  }
};

}  // namespace ocean_nlom
