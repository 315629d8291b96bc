// The ocean at the start of a run, functions of places in the whole domain: its land, its bottom, its flow.
#pragma once

#include "../shores.hpp"
#include "ocean_micom.hpp"

namespace ocean_micom {

// Whether a cell is water; lines and columns may be outside of the domain.
inline bool is_wet(const Params& p, Index j, Index i) {
  if (!ocean::in_domain(p, j, i)) return false;
  const auto [x, y] = ocean::place(p, j, i);
  return (p.problem != Problem::basin && p.problem != Problem::lake) || ocean::wet_basin(x, y);
}
inline double bottom_at(const Params& p, Index j, Index i) {
  const auto [x, y] = ocean::place(p, j, i);
  return p.problem == Problem::jet || p.stommel() ? 0 : 1800 * ocean::ridge(x, y);
}

// How deep the upper surface of layer k is: towards the north surfaces rise until they are on the bottom of the top layer, where layers have no
// thickness left; in deep water they end at the ridge.
inline double depth_of(const Params& p, Index k, Index j, Index i) {
  const double deepest = p.depth() - bottom_at(p, j, i);
  if (k == p.layers) return deepest;
  double rest = 0;
  for (Index above = 0; above < k; ++above) rest += p.rest(above);
  if (!p.stirs() || k == 0) return std::min(rest, deepest);
  const double y = ocean::place(p, j, i)[1], rise = k == 1 ? 0 : 1500 * y * y;
  double depth = rest - rise + 3 * ocean::wave(p, ocean::Kind::h, k, j, i);
  if (k > 1) depth = std::max(depth, depth_of(p, k - 1, j, i));
  return std::min(depth, deepest);
}

// On faces between two wet cells only.
inline double start_u(const State& s, Index k, Index j, Index i) {
  if (s.p.problem == Problem::jet) return s.jet_u[static_cast<std::size_t>(j * s.p.layers + k)];
  return s.p.stirs() ? 0.1 * ocean::wave(s.p, ocean::Kind::u, k, j, i) : 0;
}
inline double start_v(const State& s, Index k, Index j, Index i) {
  return s.p.stirs() ? 0.1 * ocean::wave(s.p, ocean::Kind::v, k, j, i) : 0;
}
inline double start_h(const State& s, Index k, Index j, Index i) {
  if (s.p.problem == Problem::jet) return s.jet_h[static_cast<std::size_t>(j * s.p.layers + k)];
  const double risen = k == 0 && s.p.stirs() ? 0.3 * ocean::wave(s.p, ocean::Kind::h, 0, j, i) : 0;
  return depth_of(s.p, k + 1, j, i) - depth_of(s.p, k, j, i) + risen;
}

}  // namespace ocean_micom
