// Gauge fields whose operator D(-rho) has a gap, so that its sign is a smooth function: a constant flux, and links near one.
#pragma once

#include <cmath>
#include <numbers>

#include "../tabled.hpp"

namespace lqcd {

// A constant U(1) field, `flux` quanta through every (t, x) plane and as many through every (y, z) plane: every plaquette of these planes
// is exp(2 pi i flux / area), so that the topological charge is flux^2.
inline double flux_angle(const Extents& x, std::size_t mu, const Extents& global, Index flux) {
  const std::size_t first = mu & 2, second = first + 1;  // of the plane
  const double field = 2 * std::numbers::pi * static_cast<double>(flux) / static_cast<double>(global[first] * global[second]);
  if (mu == second) return field * static_cast<double>(x[first]);
  return x[first] == global[first] - 1 ? -field * static_cast<double>(global[first] * x[second]) : 0;
}

// diag(e^ia, e^-ia, 1): colours of charge 1, -1 and 0.
inline Matrix flux_link(const Extents& x, std::size_t mu, const Extents& global, Index flux) {
  const double angle = flux_angle(x, mu, global, flux), re = std::cos(angle), im = std::sin(angle);
  Matrix u{};
  u[0][0] = {re, im};
  u[1][1] = {re, -im};
  u[2][2] = {1, 0};
  return u;
}

// Rows of 1 + spread * random, made orthonormal; the third is the conjugate of their cross product.
inline Matrix smooth_link(Index site, std::size_t mu, double spread) {
  const auto first = (static_cast<std::uint64_t>(site) * 4 + mu) * 9;
  Matrix u;
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      u[row][column] = Complex{row == column ? 1.0 : 0.0, 0} + spread * uniform(first + row * 3 + column);
  complete(u);
  return u;
}

}  // namespace lqcd
