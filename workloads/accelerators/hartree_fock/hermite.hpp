// Products of Gaussians as sums of Hermite Gaussians, and the Coulomb integrals of those: McMurchie and Davidson's recursions as they are
// written, for clarity. One-electron integrals and the judge use them; what is hot has kernels of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "molecule.hpp"

namespace hartree_fock::hermite {

inline constexpr int most_order = 4;  // of a Coulomb integral: four p functions

// Boys functions F_0 to F_m at t >= 0: the integral of u^(2m) exp(-t u^2) over 0..1. Upward from the error function, or where that would
// cancel the series of the highest and downward.
inline std::array<double, most_order + 1> boys(int m, double t) {
  std::array<double, most_order + 1> f{};
  const double e = std::exp(-t);
  if (t > 6) {
    f[0] = std::sqrt(std::numbers::pi / t) / 2 * std::erf(std::sqrt(t));
    for (int k = 0; k < m; ++k) f[k + 1] = ((2 * k + 1) * f[k] - e) / (2 * t);
    return f;
  }
  double term = 1.0 / (2 * m + 1), sum = term;
  for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= 2 * t / (2 * m + 2 * k + 1);
  f[m] = e * sum;
  for (int k = m; k > 0; --k) f[k - 1] = (2 * t * f[k] + e) / (2 * k - 1);
  return f;
}

inline Point between(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

// E[i][k][t] along one axis: what Lambda_t has of x_A^i x_B^k exp(-a x_A^2 - b x_B^2).
using Axis = std::array<std::array<std::array<double, 5>, 4>, 2>;

struct Pair {
  double p;  // exponent of the product
  Point centre;
  std::array<Axis, 3> axes{};

  Pair(double a, const Point& at_a, int la, double b, const Point& at_b, int lb) : p(a + b) {
    for (std::size_t x = 0; x < 3; ++x) {
      centre[x] = (a * at_a[x] + b * at_b[x]) / p;
      const double pa = centre[x] - at_a[x], pb = centre[x] - at_b[x], ab = at_a[x] - at_b[x];
      Axis& e = axes[x];
      e[0][0][0] = std::exp(-a * b / p * ab * ab);
      const auto raise = [this](const std::array<double, 5>& from, std::array<double, 5>& to, double shift, int order) {
        for (int t = 0; t <= order + 1; ++t)
          to[t] = (t > 0 ? from[t - 1] / (2 * p) : 0) + shift * from[t] + (t < 4 ? (t + 1) * from[t + 1] : 0);
      };
      for (int k = 0; k < lb; ++k) raise(e[0][k], e[0][k + 1], pb, k);
      for (int i = 0; i < la; ++i)
        for (int k = 0; k <= lb; ++k) raise(e[i][k], e[i + 1][k], pa, i + k);
    }
  }
};

// Powers of x, y, z of a shell's function.
inline std::array<int, 3> powers(int l, int function) {
  std::array<int, 3> found{};
  if (l == 1) found[static_cast<std::size_t>(function)] = 1;
  return found;
}

// Calls with t, u, v and the coefficient of Lambda_tuv in a product of two functions.
template <class Visit>
void each(const Pair& pair, const std::array<int, 3>& a, const std::array<int, 3>& b, Visit visit) {
  for (int t = 0; t <= a[0] + b[0]; ++t)
    for (int u = 0; u <= a[1] + b[1]; ++u)
      for (int v = 0; v <= a[2] + b[2]; ++v)
        visit(t, u, v, pair.axes[0][a[0]][b[0]][t] * pair.axes[1][a[1]][b[1]][u] * pair.axes[2][a[2]][b[2]][v]);
}

// R_tuv for t + u + v <= order.
using Table = std::array<std::array<std::array<double, most_order + 1>, most_order + 1>, most_order + 1>;

inline Table coulomb(double alpha, const Point& r, int order) {
  const auto f = boys(order, alpha * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
  Table now{};  // of auxiliary index n, made of that of n + 1
  double sign = std::pow(-2 * alpha, order);
  for (int n = order; n >= 0; --n, sign /= -2 * alpha) {
    const Table above = now;
    now[0][0][0] = sign * f[n];
    for (int t = 0; t <= order - n; ++t)
      for (int u = 0; t + u <= order - n; ++u)
        for (int v = 0; t + u + v <= order - n; ++v) {
          if (t > 0)
            now[t][u][v] = (t > 1 ? (t - 1) * above[t - 2][u][v] : 0) + r[0] * above[t - 1][u][v];
          else if (u > 0)
            now[t][u][v] = (u > 1 ? (u - 1) * above[t][u - 2][v] : 0) + r[1] * above[t][u - 1][v];
          else if (v > 0)
            now[t][u][v] = (v > 1 ? (v - 1) * above[t][u][v - 2] : 0) + r[2] * above[t][u][v - 1];
        }
  }
  return now;
}

}  // namespace hartree_fock::hermite
