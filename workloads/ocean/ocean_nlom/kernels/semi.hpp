// Leapfrog steps in which what makes gravity waves is averaged over the step before and the next one, so that a time step may be as long
// as the flow allows (A. Robert, Atmos.-Ocean 7 (1969) 35). u* and h* being explicit, 2 a from `before` to `next`, W = (u + u_before) / 2 -
// u_now:
//
//   u_next = u* - 2 a dx P,  h_next = h* - 2 a div(H W),  P = (M_before + M_next) / 2:
//   (1 - a^2 G H lap) P = M of thickness (h_before + h*) / 2 - a div(H W*)
//
// Thickness comes from fluxes, never from P, so that mass stays whatever the solver leaves. Friction is that of `before`.
#pragma once

#include "conjugate.hpp"
#include "helmholtz.hpp"
#include "run.hpp"

namespace ocean_nlom {

using ocean::at;

template <class Transport = grid::OneProcess, class Team = grid::Alone, class Ways = Right, class Fourier = fl::OwnFourier>
struct Semi : Run<Transport, Team, Ways> {
  using Base = Run<Transport, Team, Ways>;
  using Base::halos, Base::team;
  using typename Base::V;

  Helmholtz<Transport, Team, Ways, Fourier> transforms;
  Conjugate<Transport, Team, Ways> gradients;
  grid::Exchange<3, Transport> guesses, pressure;  // of u* and v*; of P

  void open(State& s) {
    Base::open(s);
    if (s.p.time != Time::semi) return;
    if (Ways::bands) ocean::keep_whole(s, std::array{&s.head});
    std::fill_n(s.head.data(), s.head.layout().elements, 0.0);  // beyond walls nothing pushes, whatever it is
    guesses.open(s.block, {.reach = grid::Reach::edges}, grid::by<Transport>(s.p.halo), s.half.u, s.half.v);
    pressure.open(s.block, {.reach = grid::Reach::edges}, grid::by<Transport>(s.p.halo), s.head);
    if (s.p.iterates())
      gradients.open(s);
    else
      transforms.open(s, team);
    s.squared = s.p.iterates() ? gradients.modes().squared : transforms.modes().squared;
  }
  void close(State& s) {
    Base::close(s);
    guesses.close(), pressure.close(), transforms.close(), gradients.close();
  }

  void step(State& s, Index iteration) {
    if (s.p.time != Time::semi) return Base::step(s, iteration);
    fl::during(phases("halo"), [&] { halos[0](team); });
    ocean::copy(s.now, s.third);
    Base::forget(s);
    s.iterations = {};
    Index began = 0;
    for (Index t = 0; t < s.p.steps; ++t) {
      if (Base::breaks(s, t)) {
        t = Base::over_files(s, t, {&s.half, &s.third, &s.now});
        if (!Ways::continues) began = t, ocean::copy(s.now, s.third);
      }
      if (Base::writes_diary(s, t)) Base::write(s);
      const Index age = t - began;
      const double span = age == 0 ? s.dt : 2 * s.dt;
      if (age > 1) fl::during(phases("advance"), [&] { ocean::filter(s.half, s.third, s.now, s.p.filter, team); });
      if (age < 2) prepare(s, span / 2);
      time_step(s, span);
      std::swap(s.third, s.now);
      std::swap(s.now, s.half);
    }
    if (s.p.diary > 0) Base::write(s);
  }

  void prepare(State& s, double a) {
    if (s.p.iterates()) return gradients.prepare(a);
    fl::during(phases("columns"), [&] { transforms.prepare(s.p, a, team); });
  }

  // Fills s.half from s.third, the step before, and s.now.
  void time_step(State& s, double span) {
    Flow &before = s.third, &now = s.now, &next = s.half;
    Base::tend(s, before, now, before, next, span);
    Base::curve(s, before, next, span);
    fl::during(phases("halo"), [&] { guesses(team); });
    fl::during(phases("advance"), [&] {
      ocean::in_bands(team, s.block.size()[1], Base::bands_, [&](ocean::Lines& lines, const fl::Part& mine, const ocean::Strip& at) {
        for (Index j = mine.begin; j < mine.end; ++j) {
          for (Index k = 0; k < s.p.layers; ++k) expect(s, lines.spread, span, k, j, at.begin, at.end);
          ocean::pressures(s, lines.spread, s, j, at.begin, at.end);
        }
      });
    });
    if (s.p.iterates())
      gradients.solve(s, s.head, team);
    else
      transforms.solve(s, s.head, team);
    if (Ways::arrives) fl::during(phases("halo"), [&] { pressure(team); });
    fl::during(phases("advance"), [&] { settle(s, span); });
    fl::during(phases("halo"), [&] { halos[2](team); });
  }

  // div(H W) of the next flow, of layers at rest: of a line of the layer k.
  struct Spread {
    Index north;
    double rest, x, y;
    const double *ub, *un, *u, *vb, *vn, *v;
    Spread(State& s, Index k, Index j) : north(s.now.u.view().stride[1]), rest(s.p.rest(k)), x(1 / s.p.dx()), y(1 / s.p.dy()) {
      const Index line = ocean::line(s.now.u.view(), k, j);
      const auto at = [&](grid::Field<double, 3>& field) { return ocean::origin(field) + line; };
      ub = at(s.third.u), un = at(s.now.u), u = at(s.half.u), vb = at(s.third.v), vn = at(s.now.v), v = at(s.half.v);
    }
    [[gnu::always_inline]] V operator()(Index i) const {
      const auto east = [&](Index i) __attribute__((always_inline)) { return 0.5 * (at(u + i) + at(ub + i)) - at(un + i); };
      const auto northern = [&](Index i) __attribute__((always_inline)) { return 0.5 * (at(v + i) + at(vb + i)) - at(vn + i); };
      return rest * ((east(i + 1) - east(i)) * x + (northern(i + north) - northern(i)) * y);
    }
  };
  // The thickness that the right side is the pressure of.
  static void expect(State& s, ocean::Ring& to, double span, Index k, Index j, Index begin, Index end) {
    const Spread spread(s, k, j);
    const double *hb = &s.third.h.view()(k, j, 0), *h = &s.half.h.view()(k, j, 0);
    double* d = &to.view()(k, j, 0);
    ocean::in_vectors(
        begin,
        end, [&](Index i, auto put) __attribute__((always_inline)) { put(d + i, 0.5 * (at(hb + i) + at(h + i)) - span / 2 * spread(i)); });
  }
  // The flow as the pressure P has it, and its thickness, on one way: a band's first line, which the band before needs, comes before all
  // others.
  void settle(State& s, double span) const {
    const Index lines = s.block.size()[1], columns = s.block.size()[2];
    ocean::each_band(team, lines, [&](const fl::Part& mine, Index) {
      correct(s, span, mine.begin, 0, columns + 1);
      if (mine.end == lines) correct(s, span, lines, 0, columns + 1);
    });
    ocean::each_band(team, lines, [&](const fl::Part& mine, Index) {
      for (Index j = mine.begin; j < mine.end; ++j) {
        if (j + 1 < mine.end) correct(s, span, j + 1, 0, columns + 1);
        thicken(s, span, j, 0, columns);
      }
    });
  }
  static void correct(State& s, double span, Index j, Index begin, Index end) {
    const double x = span / s.p.dx(), y = span / s.p.dy();
    const double *open_u = &s.face_u.view()(0, j, 0), *open_v = &s.face_v.view()(0, j, 0);
    for (Index k = 0; k < s.p.layers; ++k) {
      const double *m = &s.head.view()(k, j, 0), *ms = m - s.head.view().stride[1];
      double *u = &s.half.u.view()(k, j, 0), *v = &s.half.v.view()(k, j, 0);
      ocean::in_vectors(
          begin, end, [&](Index i, auto put) __attribute__((always_inline)) {
            const V here = at(m + i);
            put(u + i, at(u + i) - x * (here - at(m + i - 1)) * at(open_u + i)),
                put(v + i, at(v + i) - y * (here - at(ms + i)) * at(open_v + i));
          });
    }
  }
  static void thicken(State& s, double span, Index j, Index begin, Index end) {
    if (!Ways::from_fluxes) return from_pressure(s, j, begin, end);
    for (Index k = 0; k < s.p.layers; ++k) {
      const Spread spread(s, k, j);
      double* h = &s.half.h.view()(k, j, 0);
      ocean::in_vectors(begin, end, [&](Index i, auto put) __attribute__((always_inline)) { put(h + i, at(h + i) - span * spread(i)); });
    }
  }
  // As a broken variant has it: surfaces rise by 2 (P - M_before) over g, and thickness by what they rise from layer to layer.
  static void from_pressure(State& s, Index j, Index begin, Index end) {
    const auto before = [&](Index k, Index i) { return s.third.h.view()(k, j, i); };
    for (Index i = begin; i < end; ++i) {
      std::array<double, most_layers + 1> rise{};
      double above = 0;
      for (Index k = 0; k < s.p.layers; ++k) {
        double surface = 0;
        for (Index below = k; below < s.p.layers; ++below) surface += before(below, i) - s.p.rest(below);
        const double m = s.head.view()(k, j, i);
        rise[static_cast<std::size_t>(k)] = 2 * ((m - above) / s.p.reduced(k) - surface);
        above = m;
      }
      for (Index k = 0; k < s.p.layers; ++k)
        s.half.h.view()(k, j, i) = before(k, i) + rise[static_cast<std::size_t>(k)] - rise[static_cast<std::size_t>(k) + 1];
    }
  }
};

}  // namespace ocean_nlom
