// What states must be: eigenstates of H by another H, orthonormal, and the lowest there are. Compiled with the harness's own flags.
#pragma once

#include "firstlight/error_summary.hpp"
#include "spectrum.hpp"

namespace rsdft {

// H on one state of the whole box, cell by cell as the formula has it.
class Judged {
 public:
  Judged(const Params& p, double trap) : p_(p), trap_(trap), differences_(truth::differences(p.order)) {
    for (const bool odd : {false, true}) factor_[odd ? 1 : 0] = factor(p, odd);
    for (Index i = 0; i < p.n; ++i)
      if (inside(p, i)) cube_ = {std::min(cube_.begin, i), std::max(cube_.end, i + 1)};
  }

  // What every projector sees of a state.
  std::array<double, 4> seen(const std::vector<double>& x) const {
    std::array<double, 4> sums{};
    for (Index i = cube_.begin; i < cube_.end; ++i)
      for (Index j = cube_.begin; j < cube_.end; ++j)
        for (Index k = cube_.begin; k < cube_.end; ++k)
          for (std::size_t which = 0; which < 4; ++which) sums[which] += projector(which, {i, j, k}) * x[at(i, j, k)];
    return sums;
  }
  double product(const std::vector<double>& x, const std::array<double, 4>& seen, const grid::Point<3>& c) const {
    const double scale = -0.5 / (p_.spacing * p_.spacing);
    const auto value = [&](Index i, Index j, Index k) {
      return std::min({i, j, k}) < 0 || std::max({i, j, k}) >= p_.n ? 0 : x[at(i, j, k)];
    };
    double sum = 3 * static_cast<double>(differences_[0]) * x[at(c[0], c[1], c[2])];
    for (Index m = 1; m <= p_.order / 2; ++m)
      sum += static_cast<double>(differences_[static_cast<std::size_t>(m)]) *
             (value(c[0] - m, c[1], c[2]) + value(c[0] + m, c[1], c[2]) + value(c[0], c[1] - m, c[2]) + value(c[0], c[1] + m, c[2]) +
              value(c[0], c[1], c[2] - m) + value(c[0], c[1], c[2] + m));
    double squares = 0, beyond = 0;
    for (const Index i : c) squares += p_.place(i) * p_.place(i);
    for (std::size_t which = 0; which < 4; ++which)
      beyond += (which == 0 ? strength_s(p_) : strength_p(p_)) * seen[which] * projector(which, c);
    return scale * sum + 0.5 * trap_ * squares * x[at(c[0], c[1], c[2])] + beyond;
  }
  std::size_t at(Index i, Index j, Index k) const { return static_cast<std::size_t>((i * p_.n + j) * p_.n + k); }

 private:
  // 0: s; 1, 2, 3: p along x, y, z.
  double projector(std::size_t which, const grid::Point<3>& c) const {
    double product = 1;
    for (std::size_t d = 0; d < 3; ++d) product *= factor_[which == d + 1 ? 1 : 0][static_cast<std::size_t>(c[d])];
    return product;
  }

  Params p_;
  double trap_;
  std::vector<truth::Real> differences_;
  std::vector<double> factor_[2];
  fl::Part cube_{p_.n, 0};
};

// Passes after which the wanted states have converged; 0: they never do. In a pass the part of a state that is not wanted shrinks by the
// Chebyshev polynomial at the highest wanted eigenvalue, once the interval of the filter begins at the highest of all (Zhou et al. 2006).
inline Index enough_passes(const Params& p) {
  constexpr double digits = 7;  // by which it has to shrink; 5.5 to 6.6 were measured, and the first pass does not count
  const double strength = trap(p, 0), far = p.place(p.n - 1);
  double most = 0;  // no eigenvalue is larger
  const std::vector<truth::Real> differences = truth::differences(p.order);
  for (std::size_t m = 0; m < differences.size(); ++m) most += (m == 0 ? 1.5 : 3) * std::fabs(static_cast<double>(differences[m]));
  most = most / (p.spacing * p.spacing) + 1.5 * strength * far * far + p.projectors;
  const std::vector<truth::Real> right = truth::eigenvalues(p, strength, p.states);
  const auto wanted = static_cast<double>(right[static_cast<std::size_t>(p.wanted - 1)]), cut = static_cast<double>(right.back());
  const double growth = std::acosh(1 + 2 * (cut - wanted) / (most - cut)) * static_cast<double>(p.degree),
               a_pass = (growth - std::log(2)) / std::log(10);
  return a_pass > 0 ? 1 + static_cast<Index>(std::ceil(std::min(digits / a_pass, 1e6))) : 0;
}

inline std::string refuse(const Params& p, const fl::Team& team) {
  if (p.order % 2 != 0) return fl::text("rsdft needs an even order; order=%lld given", p.order);
  if (p.states % lanes != 0) return fl::text("rsdft needs states in multiples of %lld; states=%lld given", lanes, p.states);
  if (p.states * 4 > p.n * p.n * p.n) return "rsdft needs at least four points per state";
  if (p.wanted > p.states) return fl::text("rsdft needs wanted <= states; wanted=%lld and states=%lld given", p.wanted, p.states);
  if (team.ranks % p.groups != 0) return fl::text("rsdft needs groups=%lld to divide its %d processes", p.groups, team.ranks);
  if (p.groups > p.states / lanes) return fl::text("rsdft needs at least %lld states per group", lanes);
  if (const std::string why = grid::refuse(p.domain(), team.ranks / p.groups); !why.empty()) return why;
  const Index enough = enough_passes(p);
  if (enough == 0 || enough > 1000)
    return fl::text(
        "rsdft cannot separate state %lld from the highest of its %lld states with degree=%lld; use fewer wanted or more states", p.wanted,
        p.states, p.degree);
  if (p.passes < enough)
    return fl::text("rsdft needs passes=%lld for these states and degree=%lld; passes=%lld given", enough, p.degree, p.passes);
  return "";
}

inline fl::Check check(State& s, Index last) {
  const Params& p = s.p;
  const double strength = trap(p, last);
  fl::WorstError worst;

  const std::vector<truth::Real> right = truth::eigenvalues(p, strength, p.states);
  for (Index j = 0; j < p.states; ++j) {
    const double wanted = static_cast<double>(right[static_cast<std::size_t>(j)]), found = s.energies[j];
    const double allowed = 1e-9 * std::max(1.0, std::fabs(wanted));
    // Beyond the wanted ones a Ritz value may be too high, for it has not converged, and never too low.
    const double error = j < p.wanted || !std::isfinite(found) ? std::fabs(found - wanted) : std::max(0.0, wanted - found);
    worst.consider(error, allowed, [&] { return fl::text("eigenvalue %lld is %.13g, but the discrete H has %.13g", j, found, wanted); });
  }

  std::vector<double> products(static_cast<std::size_t>(p.states * p.states));
  for (Index c = 0; c < s.cells.size(); ++c) {
    const double* x = s.states.data() + c * p.states;
    for (Index i = 0; i < p.states; ++i)
      for (Index j = 0; j <= i; ++j) products[static_cast<std::size_t>(i * p.states + j)] += x[i] * x[j];
  }
  fl::add_up(products.data(), static_cast<int>(products.size()));
  for (Index i = 0; i < p.states; ++i)
    for (Index j = 0; j <= i; ++j) {
      const double product = products[static_cast<std::size_t>(i * p.states + j)];
      worst.consider(std::fabs(product - (i == j ? 1 : 0)), 1e-11,
                     [&] { return fl::text("states %lld and %lld have the product %.17g", i, j, product); });
    }

  const Judged h(p, strength);
  for (Index j = 0; j < p.wanted; ++j) {
    std::vector<double> x(static_cast<std::size_t>(p.n * p.n * p.n));
    each_own_cell(s, [&](Index c, const grid::Point<3>& place) { x[h.at(place[0], place[1], place[2])] = s.states[c * p.states + j]; });
    fl::add_up(x.data(), static_cast<int>(x.size()));
    const std::array<double, 4> seen = h.seen(x);
    double squares = 0;
    each_own_cell(s, [&](Index c, const grid::Point<3>& place) {
      const double rest = h.product(x, seen, place) - s.energies[j] * s.states[c * p.states + j];
      squares += rest * rest;
    });
    const double rest = std::sqrt(fl::total(squares));
    worst.consider(rest, 1e-5, [&] { return fl::text("|H x - E x| of state %lld is %.3g", j, rest); });
  }
  return worst.check(fl::text("%lld of %lld eigenvalues, states and products compared; the worst error is %.3g of the tolerance (%s)",
                              p.wanted, p.states, worst.share(), worst.what().c_str()));
}

}  // namespace rsdft
