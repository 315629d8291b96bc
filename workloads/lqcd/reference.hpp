// The operator as it is written down: dense gamma matrices, 64 bits, one site at a time, fields as functions of the global
// coordinates. Slow, and what everything else is compared with.
//
//   D psi(x) = (4 + m0) psi(x) + H psi(x),
//   H psi(x) = -1/2 sum_mu [ (1 - g_mu) U_mu(x) psi(x+mu) + (1 + g_mu) U_mu^+(x-mu) psi(x-mu) ]
#pragma once

#include "fields.hpp"

namespace lqcd {

inline constexpr double mass = 0.1;

using Gamma = std::array<std::array<Complex, 4>, 4>;

// Chiral basis: g_0 = [[0,-1],[-1,0]], g_k = [[0,-i s_k],[i s_k,0]] of 2x2 blocks, g_5 = diag(1,1,-1,-1).
inline constexpr Complex one{1, 0}, minus{-1, 0}, i_{0, 1}, minus_i{0, -1}, zero{0, 0};
inline constexpr Gamma gamma_matrices[4] = {
    {{{zero, zero, minus, zero}, {zero, zero, zero, minus}, {minus, zero, zero, zero}, {zero, minus, zero, zero}}},
    {{{zero, zero, zero, minus_i}, {zero, zero, minus_i, zero}, {zero, i_, zero, zero}, {i_, zero, zero, zero}}},
    {{{zero, zero, zero, minus}, {zero, zero, one, zero}, {zero, one, zero, zero}, {minus, zero, zero, zero}}},
    {{{zero, zero, minus_i, zero}, {zero, zero, zero, i_}, {i_, zero, zero, zero}, {zero, minus_i, zero, zero}}},
};

// The fields that exist only as functions; another class with link() and wrap() makes another theory (free field, gauge transform).
struct GivenFields {
  Extents global{};
  bool antiperiodic = false;

  Matrix link(const Extents& x, std::size_t mu) const { return lqcd::link(number(x, global), mu); }
  Spinor spinor(const Extents& x, int which = 0) const { return lqcd::spinor(number(x, global), which); }

  // Moves x by one step in mu around the torus; the sign that a fermion gets there.
  double move(Extents& x, std::size_t mu, Index step) const {
    x[mu] += step;
    const bool around = x[mu] < 0 || x[mu] >= global[mu];
    if (around) x[mu] -= step * global[mu];
    return around && antiperiodic && mu == 0 ? -1 : 1;
  }
};

// sum += weight (1 + sign g) chi
inline void add_projected(Spinor& sum, double weight, double sign, const Gamma& gamma, const Spinor& chi) {
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t c = 0; c < 3; ++c) {
      Complex value = chi[s][c];
      for (std::size_t r = 0; r < 4; ++r) value += sign * (gamma[s][r] * chi[r][c]);
      sum[s][c] += weight * value;
    }
}

inline Spinor times(const Matrix& u, const Spinor& psi, bool adjoint) {
  Spinor result;
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) result[s][a] += (adjoint ? conj(u[b][a]) : u[a][b]) * psi[s][b];
  return result;
}

// H psi at global coordinates x; psi(y) returns the spinor at global coordinates y.
template <class Fields, class Psi>
Spinor reference_hop(const Fields& fields, const Extents& x, Psi psi) {
  Spinor sum{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    Extents up = x, down = x;
    const double sign_up = fields.move(up, mu, 1), sign_down = fields.move(down, mu, -1);
    add_projected(sum, -0.5 * sign_up, -1, gamma_matrices[mu], times(fields.link(x, mu), psi(up), false));
    add_projected(sum, -0.5 * sign_down, 1, gamma_matrices[mu], times(fields.link(down, mu), psi(down), true));
  }
  return sum;
}

inline Spinor combine(double a, const Spinor& x, double b, const Spinor& y) {
  Spinor z;
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t c = 0; c < 3; ++c) z[s][c] = a * x[s][c] + b * y[s][c];
  return z;
}

template <class Fields, class Psi>
Spinor reference_d(const Fields& fields, const Extents& x, Psi psi) {
  return combine(4 + mass, psi(x), 1, reference_hop(fields, x, psi));
}

// Dhat = (4 + m0) - H_eo H_oe / (4 + m0), at an even site.
template <class Fields, class Psi>
Spinor reference_dhat(const Fields& fields, const Extents& x, Psi psi) {
  const auto odd = [&](const Extents& y) { return reference_hop(fields, y, psi); };
  return combine(4 + mass, psi(x), -1 / (4 + mass), reference_hop(fields, x, odd));
}

// Re tr of the plaquettes / 3, their mean.
template <class Fields>
double reference_plaquette(const Fields& fields) {
  double sum = 0;
  const Index sites = product(fields.global);
  const auto multiply = [](const Matrix& a, const Matrix& b) {
    Matrix c;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
  };
  for (Index site = 0; site < sites; ++site)
    for (std::size_t mu = 0; mu < 4; ++mu)
      for (std::size_t nu = mu + 1; nu < 4; ++nu) {
        const Extents x = place(site, fields.global);
        Extents along_mu = x, along_nu = x;
        fields.move(along_mu, mu, 1);
        fields.move(along_nu, nu, 1);
        const Matrix there = multiply(fields.link(x, mu), fields.link(along_mu, nu));
        const Matrix back = multiply(fields.link(x, nu), fields.link(along_nu, mu));
        for (std::size_t i = 0; i < 3; ++i) sum += dot(back[i], there[i]).re / 3;
      }
  return sum / static_cast<double>(6 * sites);
}

}  // namespace lqcd
