// The ocean at the start of a run, functions of places in the whole domain: its land, its bottom, its flow.
#pragma once

#include "../shores.hpp"
#include "ocean_nlom.hpp"

namespace ocean_nlom {

// Whether a cell is water; lines and columns may be outside of the domain.
inline bool is_wet(const Params& p, Index j, Index i) {
  if (!ocean::in_domain(p, j, i)) return false;
  const auto [x, y] = ocean::place(p, j, i);
  return p.problem == Problem::basin ? ocean::wet_basin(x, y) : p.problem != Problem::atlantic || ocean::wet_atlantic(x, y);
}
inline double bottom_at(const Params& p, Index j, Index i) {
  const auto [x, y] = ocean::place(p, j, i);
  return p.coasts() ? 300 * ocean::ridge(x, y) : 0;
}

// A stream function on corners, zero along the walls, for which a linear flow on an f-plane is steady in the differences of the scheme:
// what turns it is the mean over four faces of a difference of it, that is the difference of its mean over four corners.
inline double stream(const Params& p, Index k, Index j, Index i) {
  const double x = static_cast<double>(i) / static_cast<double>(p.nx), y = static_cast<double>(j) / static_cast<double>(p.ny);
  const double slower = 1 + static_cast<double>(k);
  return 1e3 / slower * std::sin(M_PI * x) * std::sin(M_PI * y) * (std::sin(3 * x + slower) + std::cos(5 * y * slower));
}
// What its pressure comes to in the thickness of a layer.
inline double balanced(const Params& p, Index k, Index j, Index i) {
  const auto pressure = [&](Index layer) {
    return layer < 0
               ? 0
               : p.coriolis(0) *
                     (stream(p, layer, j, i) + stream(p, layer, j, i + 1) + stream(p, layer, j + 1, i) + stream(p, layer, j + 1, i + 1)) /
                     4;
  };
  const auto surface = [&](Index layer) { return layer == p.layers ? 0 : (pressure(layer) - pressure(layer - 1)) / p.reduced(layer); };
  return surface(k) - surface(k + 1);
}
// Along the seiche, of cell or face.
inline double seiche_phase(const Params& p, double i) { return half_waves * M_PI * i / static_cast<double>(p.nx); }

// On faces between two wet cells only.
inline double start_u(const State& s, Index k, Index j, Index i) {
  const Params& p = s.p;
  switch (p.problem) {
    case Problem::jet:
      return s.jet_u[static_cast<std::size_t>(j * p.layers + k)];
    case Problem::geostrophic:
      return -(stream(p, k, j + 1, i) - stream(p, k, j, i)) / p.dy();
    case Problem::stommel:
    case Problem::munk:
    case Problem::seiche:
      return 0;
    default:
      return 0.2 * ocean::wave(p, ocean::Kind::u, k, j, i);
  }
}
inline double start_v(const State& s, Index k, Index j, Index i) {
  const Params& p = s.p;
  switch (p.problem) {
    case Problem::geostrophic:
      return (stream(p, k, j, i + 1) - stream(p, k, j, i)) / p.dx();
    case Problem::jet:
    case Problem::stommel:
    case Problem::munk:
    case Problem::seiche:
      return 0;
    default:
      return 0.2 * ocean::wave(p, ocean::Kind::v, k, j, i);
  }
}
inline double start_h(const State& s, Index k, Index j, Index i) {
  const Params& p = s.p;
  const double still = p.rest(k) - (k == p.layers - 1 ? bottom_at(p, j, i) : 0);
  switch (p.problem) {
    case Problem::jet:
      return s.jet_h[static_cast<std::size_t>(j * p.layers + k)];
    case Problem::stommel:
    case Problem::munk:
      return still;
    case Problem::seiche:
      return still + std::cos(seiche_phase(p, static_cast<double>(i) + 0.5));
    case Problem::geostrophic:
      return still + balanced(p, k, j, i);
    default:
      return still + 3 * ocean::wave(p, ocean::Kind::h, k, j, i);
  }
}

}  // namespace ocean_nlom
