// Whether a run is possible, and what it begins with: memory, materials, fields, halos. Compiled with the harness's own flags.
#pragma once

#include <algorithm>

#include "fdtd2d.hpp"
#include "guards.hpp"
#include "physics.hpp"

namespace fdtd2d {

inline constexpr Index most_of_a_reference = 2048;

inline std::string refuse(const Params& p, const fl::Team& team) {
  if (p.bits != 32 && p.bits != 64) return fl::text("fdtd2d needs bits=32 or bits=64; %lld given", p.bits);
  if (is_driven(p.problem) && p.n + p.steps > most_of_a_reference)
    return fl::text("fdtd2d needs n + steps <= %lld with a source, because a plain run checks it; %lld given", most_of_a_reference,
                    p.n + p.steps);
  if (p.problem == Problem::cpml && p.n < 4 * p.layers)
    return fl::text("fdtd2d needs n >= %lld around layers of %lld cells; %lld given", 4 * p.layers, p.layers, p.n);
  return grid::refuse(p.domain(), team.ranks);
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

// Draws the next batch: another mode, another place of the source, other materials.
inline Index mutate_between_batches(State& s, Index next) {
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
  std::fill_n(field.data(), field.layout().elements, T{});
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
  poison_guards(s);
  if (s.upload) s.upload();
}

inline void poison(State& s) {
  in_precision(s, [&](auto& a) {
    for (auto* each : {&a.ez, &a.hx, &a.hy}) fl::poison(each->data(), each->layout().elements);
  });
}

}  // namespace fdtd2d
