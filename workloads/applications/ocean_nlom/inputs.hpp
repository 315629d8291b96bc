// The ocean at the start of a run, functions of places in the whole domain: its land, its bottom, its flow.
#pragma once

#include "ocean_nlom.hpp"

namespace ocean_nlom::inline FL_ROLE {

// Whether a cell is water; lines and columns may lie outside of the domain.
inline bool is_wet(const Params& p, Index j, Index i) {
  const bool around_x = p.domain().periodic[2], around_y = p.domain().periodic[1];
  if ((!around_x && (i < 0 || i >= p.nx)) || (!around_y && (j < 0 || j >= p.ny))) return false;
  if (p.problem != Problem::basin) return true;
  const double x = (static_cast<double>(i) + 0.5) / static_cast<double>(p.nx),
               y = (static_cast<double>(j) + 0.5) / static_cast<double>(p.ny);
  const auto island = [&](double x0, double y0, double a, double b) { return std::hypot((x - x0) / a, (y - y0) / b) < 1; };
  return x > 0.1 + 0.06 * std::sin(9 * y) && !island(0.45, 0.6, 0.08, 0.13) && !island(0.7, 0.25, 0.11, 0.07);
}
inline double bottom_at(const Params& p, Index j, Index i) {
  if (p.problem != Problem::basin) return 0;
  const double x = (static_cast<double>(i) + 0.5) / static_cast<double>(p.nx),
               y = (static_cast<double>(j) + 0.5) / static_cast<double>(p.ny);
  return 300 * std::exp(-std::pow((x - 0.55) / 0.08, 2)) * (1 + 0.5 * std::sin(5 * y));
}

enum class Kind : std::uint64_t { u, v, h };
// Long waves and a little that is different in every cell.
inline double wave(const Params& p, Kind kind, Index k, Index j, Index i) {
  const auto of = static_cast<std::uint64_t>(kind);
  const auto cell = static_cast<std::uint64_t>((k * p.ny + j) * p.nx + i);
  const double x = 2 * M_PI * static_cast<double>(i) / static_cast<double>(p.nx),
               y = 2 * M_PI * static_cast<double>(j) / static_cast<double>(p.ny);
  const double phase = static_cast<double>(of) + 0.7 * static_cast<double>(k);
  return std::sin(x + 2 * y + phase) + 0.5 * std::cos(3 * x - y - phase) + 0.1 * fl::uniform(3 * cell + of);
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
  const auto surface = [&](Index layer) {
    return layer == p.layers ? 0 : (pressure(layer) - pressure(layer - 1)) / reduced[static_cast<std::size_t>(layer)];
  };
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
      return 0.2 * wave(p, Kind::u, k, j, i);
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
      return 0.2 * wave(p, Kind::v, k, j, i);
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
      return still + 3 * wave(p, Kind::h, k, j, i);
  }
}

// Thicknesses under which a zonal jet is steady in the very differences of the scheme:
//   M_{j+1} - M_j = (u_{j+1} - u_j) U - dy q U h,  of the mean flux; by fixed-point iteration from line to line.
inline void balance_jet(State& s) {
  const Params& p = s.p;
  const auto at = [&](Index j, Index k) { return static_cast<std::size_t>(j * p.layers + k); };
  s.jet_u.resize(static_cast<std::size_t>(p.ny * p.layers)), s.jet_h = s.jet_u;
  for (Index j = 0; j < p.ny; ++j)
    for (Index k = 0; k < p.layers; ++k) {
      const double y = (static_cast<double>(j) + 0.5) / static_cast<double>(p.ny) - 0.45;
      s.jet_u[at(j, k)] = 0.02 * std::exp(-50 * y * y) * (1 - 0.1 * static_cast<double>(k));
      s.jet_h[at(j, k)] = p.rest(k);
    }
  for (Index j = 1; j < p.ny; ++j)
    for (int round = 0; round < 60; ++round) {
      double before = 0;
      std::array<double, most_layers> rise{};  // of the surfaces from line j - 1 to j
      for (Index k = 0; k < p.layers; ++k) {
        const double u0 = s.jet_u[at(j - 1, k)], u1 = s.jet_u[at(j, k)], h0 = s.jet_h[at(j - 1, k)], h1 = s.jet_h[at(j, k)];
        const double turning = (p.coriolis(j) - (u1 - u0) / p.dy()) * (h0 * u0 + h1 * u1) / (h0 + h1);
        const double difference = -p.dy() * turning - (u1 * u1 - u0 * u0) / 2;
        rise[static_cast<std::size_t>(k)] = (difference - before) / reduced[static_cast<std::size_t>(k)];
        before = difference;
      }
      for (Index k = 0; k < p.layers; ++k)
        s.jet_h[at(j, k)] =
            s.jet_h[at(j - 1, k)] + rise[static_cast<std::size_t>(k)] - (k + 1 < p.layers ? rise[static_cast<std::size_t>(k) + 1] : 0);
    }
}

}  // namespace ocean_nlom::inline FL_ROLE
