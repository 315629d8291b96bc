// What a solution must be. Compiled with the harness's own flags; everything about the operator comes from ../reference.hpp.
#pragma once

#include <cmath>

#include "../haloed.hpp"
#include "dirac_solver.hpp"

namespace dirac_solver {

// Iterations to 1e-8 with m0 = 0.1, by method, on 4^4 and 8^4, periodic and antiperiodic; an independent implementation agrees.
inline fl::Index reference_iterations(const State& s) {
  constexpr int cg[2][2] = {{18, 18}, {18, 18}}, bicgstab[2][2] = {{7, 7}, {7, 7}};
  const Extents& global = s.given.global;
  const bool listed = s.digits == 8 && s.mass == 0.1 && (global[0] == 4 || global[0] == 8);
  if (!listed || global != Extents{global[0], global[0], global[0], global[0]}) return 0;
  const bool normal = s.method == Method::cg || s.method == Method::mixed_cg;
  return (normal ? cg : bicgstab)[global[0] == 4 ? 0 : 1][s.given.antiperiodic ? 1 : 0];
}

struct Norms {
  double rest = 0;    // |b - D x|^2
  double source = 0;  // |b_e - H_eo b_o / (4 + m0)|^2
  double largest = -1;
  Extents worst{};  // where the residual is largest
};

// Returns the norms of this process's block; the solution around it is known.
inline Norms norms_of_block(const State& s, const lqcd::Haloed& known) {
  const auto solution = [&](const Extents& x) { return known(x); };
  const auto b = [&](const Extents& x) { return s.given.spinor(x); };
  const double m = 4 + s.mass;
  Norms found;
  lqcd::each_site(s.layout.lattice.local, [&](const Extents& local) {
    const Extents x = s.layout.lattice.to_global(local);
    const lqcd::Spinor d = lqcd::combine(m, solution(x), 1, lqcd::reference_hop(s.given, x, solution));
    const lqcd::Spinor rest = lqcd::combine(1, b(x), -1 / s.scale, d);
    const double here = lqcd::dot(rest, rest).re;
    found.rest += here;
    if (!(here <= found.largest)) found.largest = here, found.worst = x;
    if (lqcd::parity(x) != 0) return;
    const lqcd::Spinor source = lqcd::combine(1, b(x), -1 / m, lqcd::reference_hop(s.given, x, b));
    found.source += lqcd::dot(source, source).re;
  });
  return found;
}

// Returns the norms of the whole lattice, the same on every process. Collective.
inline Norms norms(const State& s) {
  const Norms mine = norms_of_block(s, lqcd::Haloed(s.x.data(), s.layout));
  const double here = std::isfinite(mine.largest) ? mine.largest : INFINITY;
  double largest = here;
  fl::maximum(&largest, 1);
  double site = here == largest ? static_cast<double>(lqcd::number(mine.worst, s.given.global)) : -1;
  fl::maximum(&site, 1);
  return {fl::total(mine.rest), fl::total(mine.source), largest, lqcd::place(static_cast<fl::Index>(site), s.given.global)};
}

inline fl::Check check(State& s, fl::Index last) {
  s.given.ages = s.given.changed.ages(last);
  s.scale = fl::step_factor(last);
  const Norms found = norms(s);
  const double rest = std::sqrt(found.rest / found.source), allowed = 1.01 * std::pow(10.0, -static_cast<double>(s.digits)) + 1e-14;
  const Extents& x = found.worst;
  const fl::Index wanted = reference_iterations(s), taken = s.outcome.iterations;
  if (wanted > 0 && std::abs(taken - wanted) > 1 && rest <= allowed)
    return fl::Check::of(static_cast<double>(std::abs(taken - wanted)), 1,
                         fl::text("%lld iterations, but the reference needs %lld", taken, wanted));
  return fl::Check::of(rest, allowed,
                       fl::text("after %lld iterations |b - D x| is %.4g of |b_e - H b_o / m|, largest at site (%lld, %lld, %lld, %lld)%s",
                                taken, rest, x[0], x[1], x[2], x[3],
                                rest > allowed && taken == most_iterations ? ": this small mass requires too many iterations; use a "
                                                                             "larger mass"
                                                                           : ""));
}

}  // namespace dirac_solver
