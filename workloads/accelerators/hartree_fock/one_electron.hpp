// Integrals of one electron over s and p shells: overlap, kinetic energy, attraction by the nuclei. By Hermite Gaussians:
// L. E. McMurchie, E. R. Davidson, J. Comput. Phys. 26 (1978) 218.
#pragma once

#include "hermite.hpp"
#include "matrix.hpp"
#include "shells.hpp"

namespace hartree_fock::one_electron {

// x^i exp(-a x^2) and x^k exp(-b x^2), integrated: of the table of a pair along one axis.
inline double overlap(const hermite::Axis& e, double p, int i, int k) { return e[i][k][0] * std::sqrt(std::numbers::pi / p); }

// -1/2 d^2/dx^2 of the second function is b (2 k + 1) - 2 b^2 x^2 - k (k - 1) / (2 x^2) times it: k - 2 is never needed, for k <= 1.
inline double kinetic(const hermite::Axis& e, double p, double b, int i, int k) {
  return b * (2 * k + 1) * overlap(e, p, i, k) - 2 * b * b * overlap(e, p, i, k + 2);
}

}  // namespace hartree_fock::one_electron

namespace hartree_fock {

// Symmetric, all elements filled.
struct OneElectron {
  Matrix overlap, kinetic, attraction;
};

inline OneElectron one_electron_of(const Molecule& molecule, const std::vector<Shell>& shells) {
  const auto n = static_cast<std::size_t>(functions_of(shells));
  OneElectron out{Matrix(n), Matrix(n), Matrix(n)};
  for (const Shell& a : shells)
    for (const Shell& b : shells) {
      if (b.first > a.first) continue;
      for (int u = 0; u < a.count; ++u)
        for (int v = 0; v < b.count; ++v) {
          const hermite::Pair pair(a.exponent[u], a.centre, a.l, b.exponent[v], b.centre, b.l + 2);
          const double c = a.coefficient[u] * b.coefficient[v];
          std::array<hermite::Table, most_atoms> attraction;
          for (std::size_t k = 0; k < molecule.atoms.size(); ++k)
            attraction[k] = hermite::coulomb(pair.p, hermite::between(pair.centre, molecule.atoms[k].place), a.l + b.l);
          for (int i = 0; i < a.functions(); ++i)
            for (int k = 0; k < b.functions(); ++k) {
              const auto powers_a = hermite::powers(a.l, i), powers_b = hermite::powers(b.l, k);
              std::array<double, 3> s, t;
              for (std::size_t x = 0; x < 3; ++x) {
                s[x] = one_electron::overlap(pair.axes[x], pair.p, powers_a[x], powers_b[x]);
                t[x] = one_electron::kinetic(pair.axes[x], pair.p, b.exponent[v], powers_a[x], powers_b[x]);
              }
              double pull = 0;
              for (std::size_t atom = 0; atom < molecule.atoms.size(); ++atom) {
                double sum = 0;
                hermite::each(pair, powers_a, powers_b, [&](int x, int y, int z, double e) { sum += e * attraction[atom][x][y][z]; });
                pull -= molecule.atoms[atom].charge * sum;
              }
              const auto row = static_cast<std::size_t>(a.first + i), column = static_cast<std::size_t>(b.first + k);
              out.overlap(row, column) += c * s[0] * s[1] * s[2];
              out.kinetic(row, column) += c * (t[0] * s[1] * s[2] + s[0] * t[1] * s[2] + s[0] * s[1] * t[2]);
              out.attraction(row, column) += c * 2 * std::numbers::pi / pair.p * pull;
            }
        }
    }
  for (auto* m : {&out.overlap, &out.kinetic, &out.attraction})
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = i + 1; k < n; ++k) (*m)(i, k) = (*m)(k, i);
  return out;
}

}  // namespace hartree_fock
