// fdtd2d: Maxwell's equations in two dimensions on Yee's grid, polarised with E along z (TMz); R4 ran it by directives and in CUDA.
//
//   ez = ca ez + cb ((hy(i, j) - hy(i - 1, j)) - (hx(i, j) - hx(i, j - 1)))        ca, cb: the material of each cell
//   hx = hx - s (ez(i, j + 1) - ez(i, j)),   hy = hy + s (ez(i + 1, j) - ez(i, j))
//
// hx stands half a cell beside ez in j, hy in i, and both half a time step later. n x n cells; walls conduct at nodes 0 and n. A step of
// the harness is a whole run of `steps` time steps.
#pragma once

#include <cmath>
#include <functional>

#include "firstlight/grid/grid.hpp"
#include "problem.hpp"

namespace fdtd2d::inline FL_ROLE {

struct Params {
  Index n = 256, steps = 1000, bits = 64;
  Problem problem = Problem::cavity;
  double courant = 0.7;
  Index layers = 10;
  Index pi = 0, pj = 0;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "cells", 8, 1 << 16, "cells along an edge");
    fields.integer("steps", steps, "time steps", 1, 1 << 20, "time steps of a run");
    fields.integer("bits", bits, "bit", 32, 64, "of a number: 32 or 64");
    fields.choice("problem", problem, problems,
                  "closed cavity; periodic; a point source in absorbing layers; a source among conducting walls and materials");
    fields.real("courant", courant, "cells", 0.01, std::numbers::sqrt2 / 2, "light goes so far in a time step; stable up to sqrt(1/2)");
    fields.integer("layers", layers, "cells", 4, 64, "thickness of the absorbing layers");
    fields.integer("pi", pi, "processes", 0, 4096, "along i; 0: chosen");
    fields.integer("pj", pj, "processes", 0, 4096, "along j; 0: chosen");
  }
  grid::Domain<2> domain() const {
    const bool around = problem == Problem::periodic;
    return {.extents = {n, n}, .periodic = {around, around}, .processes = {pi, pj}, .halo = {1, 1}};
  }
};

// What a variant does otherwise than most.
struct Traits {
  double words = 11;  // of memory a cell and time step: 6 in the sweep over E (ez twice, ca, cb, hx, hy), 5 in that over H
};

// The numbers of one precision.
template <class T>
struct Numbers {
  grid::Field<T, 2> ez, hx, hy, ca, cb;
  grid::Field<T, 2> psi_ex, psi_ey, psi_hx, psi_hy;  // of absorbing layers: what a derivative along i or j has left behind
  fl::Array<T> be, ce, bh, ch;                       // their coefficients by global line
  fl::Array<T> pulse;                                // what the source adds, by time step
};

struct State {
  Params p;
  fl::Team team;
  grid::Block<2> block;
  Numbers<float> singles;
  Numbers<double> doubles;
  double s = 0;                            // the coefficient of H; it changes with the step
  Drawn drawn;                             // changes between batches
  std::vector<Mode> modes;                 // whose sum is the field at the start
  std::function<void()> upload, download;  // of all fields, where a variant keeps them on a device
};

// body(numbers of the precision that this state has)
template <class Body>
[[gnu::always_inline]] inline auto in_precision(State& s, Body body) {
  return s.p.bits == 32 ? body(s.singles) : body(s.doubles);
}

inline constexpr fl::Phases phases{"halo", "e", "h", "fused"};
inline constexpr fl::About about{
    .title = "Maxwell's equations by finite differences in time",
    .cost =
        "12 flop a cell and time step; 11 numbers (88 bytes in 64 bits) where E and H are swept one after the other: 6 for E, 5 for H; 8 "
        "where both are in one sweep",
    .verified =
        "every cell of all three fields: cavity and periodic against the exact solution of the difference equations; walls and layers "
        "against a plain run in 64 bits, layers also against a run in a domain so large that nothing returns",
    .tolerance = "eps (8 + 2 sqrt(steps)) of the largest amplitude; reflection below -60 dB",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"speed", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"update_rate", "Gcell/s", "elements", "rate", 1e-9, "higher"},
    {"halo_time", "us", "operations", "time", 1e6, "lower", phases("halo")},  // a time step
    {"error", "1", "error", "value", 1, "lower"},                             // of the largest amplitude
    {"absorption", "dB", "absorption", "value", 1, "higher"},
    {"energy_drift", "1", "energy_drift", "value", 1, "lower"},
};

inline constexpr Index most_of_a_reference = 2048;

inline std::string refuse(const Params& p, const fl::Team& team) {
  if (p.bits != 32 && p.bits != 64) return fl::text("fdtd2d needs bits=32 or bits=64; %lld given", p.bits);
  if (is_driven(p.problem) && p.n + p.steps > most_of_a_reference)
    return fl::text("fdtd2d needs n + steps <= %lld with a source, for a plain run checks it; %lld given", most_of_a_reference,
                    p.n + p.steps);
  if (p.problem == Problem::cpml && p.n < 4 * p.layers)
    return fl::text("fdtd2d needs n >= %lld around layers of %lld cells; %lld given", 4 * p.layers, p.layers, p.n);
  return grid::refuse(p.domain(), team.ranks);
}

inline double length(const Params& p, Index iteration) { return p.courant * (1 - (fl::step_factor(iteration) - 1) / 64); }
inline void touch(State& s, Index iteration) { s.s = length(s.p, iteration); }

inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const auto steps = static_cast<double>(p.steps), cells = static_cast<double>(p.n) * static_cast<double>(p.n);
  const double word = static_cast<double>(p.bits) / 8, updates = cells * steps;
  return {.flops = 12 * updates,
          .bytes = traits.words * word * updates,
          .operations = steps,
          .elements = updates,
          .working_set = 5 * word * cells / team.ranks,
          .phases = {{phases("halo"), &fl::Cost::operations, steps}}};
}

template <class T>
void allocate(Numbers<T>& a, const State& s) {
  // E is read one cell on, along both dimensions; hx one cell back along j, hy along i.
  const auto field = [&](const grid::Point<2>& halo) { return grid::Field<T, 2>(s.block.size(), halo); };
  a.ez = field({1, 1}), a.hx = field({0, 1}), a.hy = field({1, 0});
  for (auto* each : {&a.ca, &a.cb}) *each = field({});
  if (is_driven(s.p.problem)) a.pulse = fl::Array<T>(s.p.steps);
  if (s.p.problem != Problem::cpml) return;
  for (auto* each : {&a.psi_ex, &a.psi_ey, &a.psi_hx, &a.psi_hy}) *each = field({});
  for (auto* each : {&a.be, &a.ce, &a.bh, &a.ch}) *each = fl::Array<T>(s.p.n);
}

// The material of every cell, as it was drawn.
template <class T>
void fill_materials(Numbers<T>& a, const State& s) {
  grid::each_cell(s.block.cells(), [&](const grid::Point<2>& cell) {
    const auto [i, j] = s.block.global(cell);
    const Material m = material(s.p.problem, s.p.courant, s.drawn, i, j);
    a.ca[cell] = static_cast<T>(m.ca);
    a.cb[cell] = static_cast<T>(m.cb);
  });
}

// What a run does not change and no draw does.
template <class T>
void fill_tables(Numbers<T>& a, const State& s) {
  for (auto* each : {&a.ca, &a.cb}) fl::poison(each->data(), each->layout().elements);
  for (Index t = 0; t < a.pulse.size(); ++t) a.pulse[t] = static_cast<T>(pulse(t, s.p.courant));
  for (Index k = 0; k < a.be.size(); ++k) {
    const Absorbing e = absorbing(static_cast<double>(k), s.p.n, s.p.layers, s.p.courant);
    const Absorbing h = absorbing(static_cast<double>(k) + 0.5, s.p.n, s.p.layers, s.p.courant);
    a.be[k] = static_cast<T>(e.b), a.ce[k] = static_cast<T>(e.c);
    a.bh[k] = static_cast<T>(h.b), a.ch[k] = static_cast<T>(h.c);
  }
}

// Of the batch that follows: another mode, another place of the source, other materials.
inline Index renew(State& s, Index next) {
  s.drawn = Drawn(s.p.n, s.p.problem, s.drawn.batch + 1);
  s.modes = modes(s.p.problem, s.p.n, s.drawn);
  if (s.p.problem == Problem::walls) in_precision(s, [&](auto& a) { fill_materials(a, s); });
  return next;
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.p = p, s.team = team, s.block = grid::Block<2>(p.domain(), team.ranks, team.rank);
  in_precision(s, [&](auto& a) { allocate(a, s); });
  fl::first_touch(&s);
  s.drawn = Drawn(p.n, p.problem, 0);
  in_precision(s, [&](auto& a) {
    fill_tables(a, s);
    fill_materials(a, s);
  });
}

// Beyond an open end there is nothing; a halo cell whose value never arrives is a NaN.
template <class T>
void reset_halo(grid::Field<T, 2>& field, const grid::Block<2>& block) {
  for (const auto& box : grid::difference(field.layout().with_halo(), block.cells()))
    grid::each_cell(box, [&](const grid::Point<2>& cell) {
      bool beyond = false;
      for (std::size_t d = 0; d < 2; ++d)
        beyond = beyond || (cell[d] < 0 && !block.has_neighbour(d, -1)) || (cell[d] >= block.size()[d] && !block.has_neighbour(d, 1));
      if (beyond)
        field[cell] = 0;
      else
        fl::poison(&field[cell], 1);
    });
}

template <class T>
void zero(grid::Field<T, 2>& field) {
  std::memset(static_cast<void*>(field.data()), 0, static_cast<std::size_t>(field.layout().elements) * sizeof(T));
}

// H is half a time step ahead, as the nominal coefficient brings it there from nothing.
template <class T>
void start(Numbers<T>& a, const State& s) {
  const double half = s.p.courant / 2;
  const auto ez = a.ez.view(), hx = a.hx.view(), hy = a.hy.view();
  grid::each_row(s.block.cells(), [&](const grid::Point<2>& p, Index count) {
    const auto [i, j] = s.block.global(p);
    T *e = &ez(p[0], p[1]), *x = &hx(p[0], p[1]), *y = &hy(p[0], p[1]);
    const auto line = static_cast<std::size_t>(i), first = static_cast<std::size_t>(j);
    for (Index k = 0; k < count; ++k) {
      const Waves w =
          sum(s.modes, line, first + static_cast<std::size_t>(k), [&](const Mode& m) { return Times{m.amplitude, half * m.amplitude}; });
      e[k] = static_cast<T>(w.ez), x[k] = static_cast<T>(w.hx), y[k] = static_cast<T>(w.hy);
    }
  });
}

inline void reset(State& s) {
  in_precision(s, [&](auto& a) {
    for (auto* each : {&a.ez, &a.hx, &a.hy}) {
      if (is_driven(s.p.problem)) zero(*each);
      reset_halo(*each, s.block);
    }
    if (!is_driven(s.p.problem)) start(a, s);
    for (auto* each : {&a.psi_ex, &a.psi_ey, &a.psi_hx, &a.psi_hy}) zero(*each);
  });
  if (s.upload) s.upload();
}

inline void poison(State& s) {
  in_precision(s, [&](auto& a) {
    for (auto* each : {&a.ez, &a.hx, &a.hy}) fl::poison(each->data(), each->layout().elements);
  });
}

}  // namespace fdtd2d::inline FL_ROLE

#ifdef FL_JUDGE
#include "judge.hpp"
#include "picture.hpp"
#endif
