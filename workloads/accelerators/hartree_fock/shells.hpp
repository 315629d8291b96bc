// Shells: contracted Gaussians of one centre with the same radial part. What every integral is made of.
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "basis_sets.hpp"
#include "molecule.hpp"

namespace hartree_fock {

inline constexpr int most_primitives = 3;  // of a shell, in both sets

// One function x^0 (l = 0) or the three x, y, z (l = 1), each times sum_k coefficient[k] exp(-exponent[k] r^2), of norm 1.
struct Shell {
  int l = 0;
  int count = 0;  // primitives; what is beyond is 0
  std::array<double, most_primitives> exponent{}, coefficient{};
  Point centre{};  // bohr
  int first = 0;   // number of its first function
  int atom = 0;

  int functions() const { return 2 * l + 1; }
};

// The integral of a product of two normalised primitives on one centre.
inline double overlap_of_primitives(double a, double b, int l) { return std::pow(2 * std::sqrt(a * b) / (a + b), 1.5 + l); }

// Published coefficients are those of normalised primitives; the contraction is given norm 1 as well, for the digits that are published
// leave it off by up to 1e-7.
inline Shell shell_of(const Published& published, int l, int atom, const Point& centre) {
  Shell shell{.l = l, .count = published.count, .centre = centre, .atom = atom};
  const auto& c = l == 0 ? published.s : published.p;
  double norm = 0;
  for (int i = 0; i < shell.count; ++i)
    for (int k = 0; k < shell.count; ++k) norm += c[i] * c[k] * overlap_of_primitives(published.exponent[i], published.exponent[k], l);
  for (int i = 0; i < shell.count; ++i) {
    const double a = published.exponent[i];
    const double primitive = std::pow(2 * a / std::numbers::pi, 0.75) * (l == 0 ? 1 : 2 * std::sqrt(a));
    shell.exponent[i] = a;
    shell.coefficient[i] = c[i] * primitive / std::sqrt(norm);
  }
  return shell;
}

// Atom by atom, in the order of the published set; of a shell that is published as SP first the s and then the p.
inline std::vector<Shell> basis_of(const Molecule& molecule, BasisSet set) {
  std::vector<Shell> shells;
  int functions = 0;
  for (std::size_t k = 0; k < molecule.atoms.size(); ++k)
    for (const Published& published : published_of(molecule.atoms[k].charge, set))
      for (int l = 0; l <= (published.has_p ? 1 : 0); ++l) {
        shells.push_back(shell_of(published, l, static_cast<int>(k), molecule.atoms[k].place));
        shells.back().first = functions;
        functions += shells.back().functions();
      }
  return shells;
}

inline int functions_of(const std::vector<Shell>& shells) { return shells.empty() ? 0 : shells.back().first + shells.back().functions(); }

}  // namespace hartree_fock
