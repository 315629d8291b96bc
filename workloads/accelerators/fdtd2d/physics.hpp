// Materials, sources, absorbing layers and starts, as functions of the place in the whole grid and of what was drawn.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "problem.hpp"

namespace fdtd2d {

struct Material {
  double ca = 1, cb = 0;
};

// Returns the material of this relative permittivity and this conductivity, in units of one over a cell.
inline Material of(double courant, double permittivity, double conductivity) {
  const double loss = conductivity * courant / (2 * permittivity);
  return {(1 - loss) / (1 + loss), courant / permittivity / (1 + loss)};
}
inline constexpr Material metal{0, 0};  // keeps E at zero

inline Material material(Problem problem, double courant, const Drawn& drawn, Index i, Index j) {
  if (problem != Problem::periodic && (i == 0 || j == 0)) return metal;
  if (problem == Problem::walls) {
    if (drawn.disks[2].contains(i, j)) return metal;
    if (drawn.disks[1].contains(i, j)) return of(courant, 2, 0.05);
    if (drawn.disks[0].contains(i, j)) return of(courant, 4, 0);
  }
  return of(courant, 1, 0);
}

// What the source adds in time step t: a pulse without a mean, of wavelengths around 20 cells.
inline double pulse(Index t, double courant) {
  const double width = 7, a = (courant * static_cast<double>(t + 1) - 3.5 * width) / width;
  return (1 - 2 * a * a) * std::exp(-a * a);
}

// Convolutional perfectly matched layers (Roden and Gedney 2000): psi = b psi + c (the difference along this dimension), which is then added
// to the difference. The conductivity grows with the fourth power of the depth; `line` is that of a node, or half a cell next to it.
struct Absorbing {
  double b = 0, c = 0;
};
inline Absorbing absorbing(double line, Index n, Index layers, double courant) {
  const auto thick = static_cast<double>(layers);
  const double depth = std::max({0., thick - line, line - static_cast<double>(n) + thick}) / thick;
  const double sigma = 0.8 * 5 * std::pow(depth, 4), alpha = 0.05 * (1 - depth);
  const double b = std::exp(-(sigma + alpha) * courant);
  return {b, depth > 0 ? sigma / (sigma + alpha) * (b - 1) : 0};
}

// --- what fields start from -----------------------------------------------------------------------------------------------

// Amplitudes of E and H at a time.
struct Times {
  double e = 0, h = 0;
};
struct Waves {
  double ez = 0, hx = 0, hy = 0;
};

template <class Amplitudes>
Waves sum(const std::vector<Mode>& modes, std::size_t i, std::size_t j, Amplitudes at) {
  Waves w;
  for (const Mode& mode : modes) {
    const Times a = at(mode);
    for (const Product& p : mode.products) {
      w.ez += a.e * p.x[i] * p.y[j];
      w.hx -= a.h * p.x[i] * p.dy[j];
      w.hy += a.h * p.dx[i] * p.y[j];
    }
  }
  return w;
}

// sin or cos of k line at all nodes, and the differences.
inline void tabulate(long double k, bool cosine, Index n, std::vector<double>& value, std::vector<double>& difference) {
  for (Index line = 0; line < n; ++line) {
    const auto at = static_cast<long double>(line), half = at + 0.5L;
    value.push_back(static_cast<double>(cosine ? std::cos(k * at) : std::sin(k * at)));
    difference.push_back(static_cast<double>(2 * std::sin(k / 2) * (cosine ? -std::sin(k * half) : std::cos(k * half))));
  }
}

// sin(pi p i / n) sin(pi q j / n) between walls, cos(2 pi (p i + q j) / n) around a torus.
inline Mode mode(Problem problem, Index n, Index p, Index q, double amplitude) {
  const bool around = problem == Problem::periodic;
  const long double unit = std::numbers::pi_v<long double> * (around ? 2 : 1) / static_cast<long double>(n);
  const long double kx = unit * static_cast<long double>(p), ky = unit * static_cast<long double>(q);
  const long double sx = std::sin(kx / 2), sy = std::sin(ky / 2);
  Mode m{amplitude, static_cast<double>(sx * sx + sy * sy), {}};
  for (const bool cosine : around ? std::vector<bool>{true, false} : std::vector<bool>{false}) {
    Product& product = m.products.emplace_back();
    tabulate(kx, cosine, n, product.x, product.dx);
    tabulate(ky, cosine, n, product.y, product.dy);
  }
  if (around)  // cos(a + b) = cos a cos b - sin a sin b
    for (auto* each : {&m.products[1].x, &m.products[1].dx})
      for (double& value : *each) value = -value;
  return m;
}

inline std::vector<Mode> modes(Problem problem, Index n, const Drawn& drawn) {
  if (is_driven(problem)) return {};
  return {mode(problem, n, 3, 2, 1), mode(problem, n, drawn.p, drawn.q, 1. / 16)};
}

}  // namespace fdtd2d
