// The eigenvalues of the discrete H, for the judge. Without projectors H is a sum of three one-dimensional operators, whose eigenvectors are
// even or odd; a projector, a product of one-dimensional functions too, moves the states of its parity as a matrix of rank one does.
#pragma once

#include "rsdft.hpp"

namespace rsdft::truth {

using Real = long double;

// Returns the coefficients of the second derivative by differences over 2 m + 1 points, in units of 1 / spacing^2 (B. Fornberg, Math. Comp.
// 51 (1988) 699).
inline std::vector<Real> differences(Index order) {
  const Index m = order / 2;
  std::vector<Real> c(static_cast<std::size_t>(m + 1));
  Real share = 2;  // 2 (m!)^2 / ((m - k)! (m + k)!), without its sign
  for (Index k = 1; k <= m; ++k) {
    share *= static_cast<Real>(m - k + 1) / static_cast<Real>(m + k);
    c[static_cast<std::size_t>(k)] = (k % 2 == 1 ? share : -share) / static_cast<Real>(k * k);
    c[0] -= 2 * c[static_cast<std::size_t>(k)];
  }
  return c;
}

// Eigenvalues of one parity, and how much of each eigenvector the projector's factor of that parity has.
struct Levels {
  std::vector<Real> energy, overlap;
};

// A symmetric matrix by rotations of two rows and columns at a time; `v` becomes its eigenvectors, by columns.
inline void diagonalise(std::vector<std::vector<Real>>& a, std::vector<std::vector<Real>>& v) {
  const std::size_t n = a.size();
  for (int sweep = 0; sweep < 60; ++sweep) {
    Real off = 0, all = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) (i == j ? all : off) += a[i][j] * a[i][j];
    if (off <= 1e-36L * all) return;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const Real angle = 0.5L * std::atan2(2 * a[p][q], a[q][q] - a[p][p]), c = std::cos(angle), s = std::sin(angle);
        for (std::size_t k = 0; k < n; ++k) {
          const Real left = a[k][p], right = a[k][q], before = v[k][p], after = v[k][q];
          a[k][p] = c * left - s * right, a[k][q] = s * left + c * right;
          v[k][p] = c * before - s * after, v[k][q] = s * before + c * after;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const Real above = a[p][k], below = a[q][k];
          a[p][k] = c * above - s * below, a[q][k] = s * above + c * below;
        }
      }
  }
}

// Returns the levels of a line of points: -1/2 d^2 + trap x^2 / 2 on the functions of one parity.
inline Levels levels(const Params& p, double trap, bool odd) {
  const std::vector<Real> c = differences(p.order);
  const Real scale = -0.5L / (static_cast<Real>(p.spacing) * static_cast<Real>(p.spacing));
  const auto element = [&](Index i, Index j) -> Real {
    const Index apart = std::abs(i - j);
    const Real x = p.place(i), kinetic = apart <= p.order / 2 ? scale * c[static_cast<std::size_t>(apart)] : 0;
    return kinetic + (i == j ? 0.5L * trap * x * x : 0);
  };
  // Basis: (a point + or - its mirror image) / sqrt 2; the middle point, where there is one, is its own.
  const Index half = p.n / 2, count = odd ? half : p.n - half;
  const Real sign = odd ? -1 : 1;
  const std::vector<double> f = factor(p, odd);
  const auto own = [&](Index i) { return 2 * i == p.n - 1; };
  std::vector<std::vector<Real>> a(static_cast<std::size_t>(count), std::vector<Real>(static_cast<std::size_t>(count))), v = a;
  std::vector<Real> projector(a.size());
  for (Index i = 0; i < count; ++i) {
    v[static_cast<std::size_t>(i)][static_cast<std::size_t>(i)] = 1;
    projector[static_cast<std::size_t>(i)] = f[static_cast<std::size_t>(i)] * (own(i) ? 1 : std::sqrt(2.0L));
    for (Index j = 0; j < count; ++j) {
      const Real pair = element(i, j) + (own(j) ? 0 : sign * element(i, p.n - 1 - j));
      a[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = pair * (own(i) == own(j) ? 1
                                                                            : own(i)         ? 1 / std::sqrt(2.0L)
                                                                                             : std::sqrt(2.0L));
    }
  }
  diagonalise(a, v);
  Levels found;
  std::vector<std::size_t> by(a.size());
  for (std::size_t k = 0; k < by.size(); ++k) by[k] = k;
  std::sort(by.begin(), by.end(), [&](std::size_t x, std::size_t y) { return a[x][x] < a[y][y]; });
  for (const std::size_t k : by) {
    Real overlap = 0;
    for (std::size_t i = 0; i < v.size(); ++i) overlap += v[i][k] * projector[i];
    found.energy.push_back(a[k][k]);
    found.overlap.push_back(overlap);
  }
  return found;
}

// States of three parities that differ in the order of their factors only.
struct Level {
  Real energy, weight;  // of what the projector sees of them
  int states;
};

// The `count` lowest of a sector: of levels with several states all but one stay, and one moves to a root of 1 + D sum w / (E - x).
inline void moved(std::vector<Level> sector, Real strength, std::size_t count, std::vector<Real>& into) {
  std::sort(sector.begin(), sector.end(), [](const Level& a, const Level& b) { return a.energy < b.energy; });
  Real weights = 0;
  for (const Level& level : sector) weights += level.weight;
  for (std::size_t k = 0; k < std::min(count, sector.size()); ++k) {
    for (int copy = 1; copy < sector[k].states; ++copy) into.push_back(sector[k].energy);
    if (strength == 0) {
      into.push_back(sector[k].energy);
      continue;
    }
    const Real bound = std::fabs(strength) * weights;
    Real low = strength > 0 ? sector[k].energy : k > 0 ? sector[k - 1].energy : sector[k].energy - bound;
    Real high = strength < 0 ? sector[k].energy : k + 1 < sector.size() ? sector[k + 1].energy : sector[k].energy + bound;
    for (int halving = 0; halving < 70; ++halving) {
      const Real x = 0.5L * (low + high);
      Real sum = 1;
      for (const Level& level : sector) sum += level.energy == x ? 0 : strength * level.weight / (level.energy - x);
      (sum * strength < 0 ? low : high) = x;
    }
    into.push_back(0.5L * (low + high));
  }
}

// The lowest `count` eigenvalues.
inline std::vector<Real> eigenvalues(const Params& p, double trap, Index count) {
  const Levels even = levels(p, trap, false), odd = levels(p, trap, true);
  const auto most = static_cast<std::size_t>(count);
  const std::size_t evens = even.energy.size(), odds = odd.energy.size();
  std::vector<Level> s, along;  // even in x, y and z; odd in one of them
  for (std::size_t a = 0; a < evens; ++a)
    for (std::size_t b = a; b < evens; ++b) {
      for (std::size_t c = b; c < evens; ++c) {
        const int states = a == b && b == c ? 1 : a == b || b == c ? 3 : 6;
        const Real seen = even.overlap[a] * even.overlap[b] * even.overlap[c];
        s.push_back({even.energy[a] + even.energy[b] + even.energy[c], static_cast<Real>(states) * seen * seen, states});
      }
      for (std::size_t c = 0; c < odds; ++c) {
        const int states = a == b ? 1 : 2;
        const Real seen = even.overlap[a] * even.overlap[b] * odd.overlap[c];
        along.push_back({even.energy[a] + even.energy[b] + odd.energy[c], static_cast<Real>(states) * seen * seen, states});
      }
    }
  std::vector<Real> all;
  moved(s, strength_s(p), most, all);
  std::vector<Real> of_p;
  moved(along, strength_p(p), most, of_p);
  for (int axis = 0; axis < 3; ++axis) all.insert(all.end(), of_p.begin(), of_p.end());
  for (std::size_t a = 0; a < std::min(odds, most); ++a)
    for (std::size_t b = 0; b < std::min(odds, most); ++b) {
      for (std::size_t c = 0; c < std::min(odds, most); ++c) all.push_back(odd.energy[a] + odd.energy[b] + odd.energy[c]);
      for (std::size_t c = 0; c < std::min(evens, most); ++c)
        for (int axis = 0; axis < 3; ++axis) all.push_back(odd.energy[a] + odd.energy[b] + even.energy[c]);
    }
  std::sort(all.begin(), all.end());
  all.resize(most);
  return all;
}

}  // namespace rsdft::truth
