// Oceans by formula: where there is water, how high the bottom is, and a process's part of both; the flow at the start of a run.
#pragma once

#include "sea.hpp"

namespace ocean {

// The centre of a cell, from 0 to 1.
template <class P>
std::array<double, 2> place(const P& p, Index j, Index i) {
  return {(static_cast<double>(i) + 0.5) / static_cast<double>(p.nx), (static_cast<double>(j) + 0.5) / static_cast<double>(p.ny)};
}
// Whether a cell is in the domain, or beyond an end that is none.
template <class P>
bool in_domain(const P& p, Index j, Index i) {
  const auto around = p.domain().periodic;
  return (around[2] || (i >= 0 && i < p.nx)) && (around[1] || (j >= 0 && j < p.ny));
}
// Land in the west, two islands.
inline bool wet_basin(double x, double y) {
  const auto island = [&](double x0, double y0, double a, double b) { return std::hypot((x - x0) / a, (y - y0) / b) < 1; };
  return x > 0.1 + 0.06 * std::sin(9 * y) && !island(0.45, 0.6, 0.08, 0.13) && !island(0.7, 0.25, 0.11, 0.07);
}
// Returns x at y on a line of places (x, y) from south to north.
template <std::size_t n>
double along(const std::array<std::array<double, 2>, n>& places, double y) {
  std::size_t k = 1;
  while (k + 1 < n && places[k][1] < y) ++k;
  const auto &a = places[k - 1], &b = places[k];
  return a[0] + (b[0] - a[0]) * std::clamp((y - a[1]) / (b[1] - a[1]), 0.0, 1.0);
}
// Like the North Atlantic of NLOM, from 98 to 8 degrees west and from 9 to 51 north: both continents, the Gulf of Mexico and the Caribbean, and
// the largest islands between.
inline bool wet_atlantic(double x, double y) {
  using Coast = std::array<std::array<double, 2>, 8>;  // degrees east and north
  static constexpr Coast west{{{-60, 9}, {-63, 11}, {-84, 17}, {-81, 25}, {-81, 31}, {-76, 35}, {-66, 44}, {-53, 48}}};
  static constexpr Coast east{{{-13, 9}, {-17, 15}, {-16, 21}, {-10, 29}, {-6, 35}, {-9, 37}, {-9, 43}, {-1, 44}}};
  const double lon = -98 + 90 * x, lat = 9 + 42 * y;
  const auto within = [&](double lon0, double lat0, double a, double b) { return std::hypot((lon - lon0) / a, (lat - lat0) / b) < 1; };
  if (within(-79, 21.8, 5, 1) || within(-71, 18.8, 2.5, 1) || within(-28, 38.5, 1.5, 1)) return false;  // Cuba, Hispaniola, the Azores
  if (within(-90, 25, 7.5, 4.5) || within(-75, 15, 10, 3.5) || within(-85, 22, 1.5, 3)) return true;  // gulf, Caribbean, the strait between
  return lon > along(west, lat) && lon < along(east, lat) && !within(-81.5, 27.5, 1, 2.5);            // Florida
}
// From south to north; up to 1.5 high.
inline double ridge(double x, double y) { return std::exp(-std::pow((x - 0.55) / 0.08, 2)) * (1 + 0.5 * std::sin(5 * y)); }

// Long waves and a little that is different in every cell.
enum class Kind : std::uint64_t { u, v, h };
template <class P>
double wave(const P& p, Kind kind, Index k, Index j, Index i) {
  const auto of = static_cast<std::uint64_t>(kind);
  const auto cell = static_cast<std::uint64_t>((k * p.ny + j) * p.nx + i);
  const double x = 2 * M_PI * static_cast<double>(i) / static_cast<double>(p.nx),
               y = 2 * M_PI * static_cast<double>(j) / static_cast<double>(p.ny);
  const double phase = static_cast<double>(of) + 0.7 * static_cast<double>(k);
  return std::sin(x + 2 * y + phase) + 0.5 * std::cos(3 * x - y - phase) + 0.1 * fl::uniform(3 * cell + of);
}

// Thicknesses under which a zonal jet is steady in the very differences of the scheme:
//   M_{j+1} - M_j = (u_{j+1} - u_j) U - dy q U h,  of the mean flux; by fixed-point iteration from line to line.
template <class State>
void balance_jet(State& s) {
  const auto& p = s.p;
  const auto at = [&](Index j, Index k) { return static_cast<std::size_t>(j * p.layers + k); };
  s.jet_u.resize(static_cast<std::size_t>(p.ny * p.layers)), s.jet_h = s.jet_u;
  for (Index j = 0; j < p.ny; ++j)
    for (Index k = 0; k < p.layers; ++k) {
      const double y = (static_cast<double>(j) + 0.5) / static_cast<double>(p.ny) - 0.45;
      s.jet_u[at(j, k)] = 0.02 * std::exp(-50 * y * y) * (1 - 0.1 * static_cast<double>(k));
      s.jet_h[at(j, k)] = p.rest(k);
    }
  std::vector<double> rise(static_cast<std::size_t>(p.layers + 1));  // of the surfaces from line j - 1 to j; the bottom's: none
  for (Index j = 1; j < p.ny; ++j)
    for (int round = 0; round < 60; ++round) {
      double before = 0;
      for (Index k = 0; k < p.layers; ++k) {
        const double u0 = s.jet_u[at(j - 1, k)], u1 = s.jet_u[at(j, k)], h0 = s.jet_h[at(j - 1, k)], h1 = s.jet_h[at(j, k)];
        const double turning = (p.coriolis(j) - (u1 - u0) / p.dy()) * (h0 * u0 + h1 * u1) / (h0 + h1);
        const double difference = -p.dy() * turning - (u1 * u1 - u0 * u0) / 2;
        rise[static_cast<std::size_t>(k)] = (difference - before) / p.reduced(k);
        before = difference;
      }
      for (Index k = 0; k < p.layers; ++k)
        s.jet_h[at(j, k)] = s.jet_h[at(j - 1, k)] + rise[static_cast<std::size_t>(k)] - rise[static_cast<std::size_t>(k) + 1];
    }
}

// Memory, land and the start; is_wet(), bottom_at(), start_u(), start_v() and start_h() are the workload's.
template <class State>
void lay_out(State& s) {
  const auto& p = s.p;
  const grid::Point<3> size = s.block.size(), flat{1, size[1], size[2]}, halo = p.domain().halo;
  for (Flow* y : {&s.start, &s.now})
    for (auto* field : y->all()) *field = grid::Field<double, 3>(size, halo, grid::cache_line, p.columns());
  for (auto* field : {&s.wet, &s.bottom, &s.face_u, &s.face_v, &s.corners, &s.edge}) *field = grid::Field<double, 3>(flat, halo);
  const auto wet = [&](const grid::Point<3>& g) { return is_wet(p, g[1], g[2]); };
  grid::each_cell(s.wet.layout().with_halo(), [&](const grid::Point<3>& c) {
    const grid::Point<3> g = grid::plus<3>(c, s.block.owned.lower);
    const int count = wet(g) + wet({0, g[1], g[2] - 1}) + wet({0, g[1] - 1, g[2]}) + wet({0, g[1] - 1, g[2] - 1});
    s.wet[c] = wet(g), s.bottom[c] = bottom_at(p, s.block.global(c)[1], s.block.global(c)[2]);
    s.face_u[c] = wet(g) && wet({0, g[1], g[2] - 1}), s.face_v[c] = wet(g) && wet({0, g[1] - 1, g[2]});
    s.corners[c] = count, s.edge[c] = count == 4 ? 1 : p.slip == Slip::free ? 0 : 2;
  });
}
// Halo cells that will come from elsewhere are NaN until they do; what is beyond a coast is at rest.
template <class State>
void begin(State& s) {
  const auto& p = s.p;
  for (auto* field : s.start.all())
    for (Index n = 0; n < field->layout().elements; ++n) field->data()[n] = 0;
  grid::each_cell(s.start.h.layout().with_halo(), [&](const grid::Point<3>& c) {
    const grid::Point<3> flat_cell{0, c[1], c[2]}, g = s.block.global(c);
    const bool mine = s.block.cells().contains(c);
    const bool beyond = g[1] < 0 || g[1] >= p.ny || g[2] < 0 || g[2] >= p.nx;
    if (beyond) return;
    s.start.u[c] = !mine ? NAN : s.face_u[flat_cell] != 0 ? start_u(s, g[0], g[1], g[2]) : 0;
    s.start.v[c] = !mine ? NAN : s.face_v[flat_cell] != 0 ? start_v(s, g[0], g[1], g[2]) : 0;
    s.start.h[c] = !mine ? NAN : s.wet[flat_cell] != 0 ? start_h(s, g[0], g[1], g[2]) : 0;
  });
}

}  // namespace ocean
