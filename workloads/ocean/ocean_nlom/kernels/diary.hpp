// What a run writes down of itself every so many time steps: mass, energy and potential enstrophy of a process's own cells.
#pragma once

#include "ocean_nlom.hpp"

namespace ocean_nlom {

// Halos have arrived. Mass as what there is more than at rest, m^3, so that no rounding of the whole hides what changes; m^5/s^2 (energy over density) and m/s^2 (half q^2 h, an area of it).
template <class Ways>
void write_down(State& s, const Flow& flow) {
  const Params& p = s.p;
  const grid::Point<3> size = s.block.size();
  const double cell = p.dx() * p.dy();
  const auto of = [](const grid::Field<double, 3>& field) { return [&field](Index k, Index j, Index i) { return field[{k, j, i}]; }; };
  const auto u = of(flow.u), v = of(flow.v), h = of(flow.h);
  long double mass = 0;
  double energy = 0, enstrophy = 0;
  for (Index j = 0; j < size[1]; ++j)
    for (Index i = 0; i < size[2]; ++i) {
      const double wet = s.wet[{0, j, i}], count = s.corners[{0, j, i}], edge = s.edge[{0, j, i}];
      const double f = p.coriolis(s.block.owned.lower[1] + j);
      double surface = s.bottom[{0, j, i}];
      for (Index k = p.layers; k-- > 0;) {
        const auto square = [](double x) { return x * x; };
        surface += h(k, j, i) - p.rest(k);
        mass += (h(k, j, i) - p.rest(k)) * wet;
        energy += 0.25 * h(k, j, i) * (square(u(k, j, i)) + square(u(k, j, i + 1)) + square(v(k, j, i)) + square(v(k, j + 1, i)));
        energy += Ways::surfaces ? 0.5 * p.reduced(k) * surface * surface * wet : 0;
        const double around = h(k, j, i) + h(k, j, i - 1) + h(k, j - 1, i) + h(k, j - 1, i - 1);
        const double zeta = (v(k, j, i) - v(k, j, i - 1)) / p.dx() - (u(k, j, i) - u(k, j - 1, i)) / p.dy();
        if (count > 0) enstrophy += 0.5 * square(zeta * edge + f) * count / around;
      }
    }
  s.mass.push_back(static_cast<double>(mass) * cell), s.energy.push_back(energy * cell), s.enstrophy.push_back(enstrophy * cell);
}

}  // namespace ocean_nlom
