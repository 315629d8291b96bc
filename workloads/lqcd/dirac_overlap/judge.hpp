// What a result must be. Compiled with the harness's own flags, on plain loops that are compared with dense gamma matrices.
#pragma once

#include <cfloat>

#include "../plain_hop.hpp"
#include "dirac_overlap.hpp"
#include "operator.hpp"

namespace dirac_overlap {

using Plain = lqcd::PlainHop;

// The same fields with one lane, of this process's block.
struct Copy {
  Layout layout;
  lqcd::Field<double> links, psi;

  explicit Copy(const State& s) : layout(s.layout.lattice, 1), links(lqcd::plain_links_size(layout)), psi(layout.spinor_size()) {
    lqcd::fill_plain_links(links.data(), layout, s.given);
    lqcd::fill_spinor(psi.data(), layout, s.given);
  }
};

inline void find_bounds(State& s) {
  const Copy copy(s);
  const lqcd::Bounds found = lqcd::bounds<Plain>(copy.layout, 1, copy.links.data(), s.rho, copy.psi, 0.05);
  s.least = fl::total(s.team.rank == 0 ? found.least : 0);  // the same bits on every processor
  s.most = found.most;
}

inline lqcd::Goal goal(const State& s) { return {.tolerance = std::pow(10.0, -static_cast<double>(s.digits)), .most = 100000}; }

// The largest difference between D(-rho) psi by plain loops and by the definition, on any process. Collective.
inline double plain_error(const State& s, const Copy& copy) {
  lqcd::WholeOperator<Plain> plain(copy.layout, 1, copy.links.data(), -s.rho);
  lqcd::Field<double> out(copy.layout.spinor_size());
  plain.apply(out, copy.psi);
  const auto psi = [&](const Extents& x) { return s.given.spinor(x); };
  double worst = 0;
  lqcd::each_site(copy.layout.lattice.local, [&](const Extents& local) {
    const Extents x = copy.layout.lattice.to_global(local);
    const lqcd::Spinor wanted = lqcd::combine(4 - s.rho, psi(x), 1, lqcd::reference_hop(s.given, x, psi));
    const lqcd::Spinor rest = lqcd::combine(1, lqcd::get_spinor(out.data(), copy.layout, local), -1, wanted);
    const double error = std::sqrt(lqcd::dot(rest, rest).re);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  });
  fl::maximum(&worst, 1);
  return worst;
}

inline fl::Check check(State& s, fl::Index last) {
  s.given.ages = s.given.changed.ages(last);
  const Copy copy(s);
  if (const double error = plain_error(s, copy); !(error < 1e-13))
    return fl::Check::of(error, 1e-13, fl::text("D(-rho) by plain loops is off by %.3g", error));
  lqcd::Overlap<Plain> overlap(copy.layout, 1, copy.links.data(), s.rho, {s.least, s.most}, s.poles);
  auto& algebra = overlap.algebra();
  const double size = std::sqrt(algebra.norm2(copy.psi));

  // sign(H) psi = g5 (2 D_ov psi - psi)
  lqcd::Field<double> sign = algebra.field(), back = algebra.field();
  lqcd::each_site(copy.layout.lattice.local, [&](const Extents& x) {
    const double scale = fl::step_factor(last);
    const lqcd::Spinor out = lqcd::get_spinor(s.out.data(), s.layout, x), psi = s.given.spinor(copy.layout.lattice.to_global(x));
    lqcd::put_spinor(sign.data(), copy.layout, x, lqcd::combine(2 / scale, out, -1, psi));
  });
  algebra.turn(sign);
  const fl::Index taken = s.outcome.iterations, needed = overlap.sign(back, sign, goal(s)).iterations;
  s.outcome.violation = std::sqrt(algebra.subtract_from(copy.psi, back)) / size / 2;  // g5 D + D g5 - 2 D g5 D = 1/2 g5 (1 - sign^2)

  const lqcd::Zolotarev& z = overlap.approximation();
  double gain = 0;  // of the residuals: |H (H^2 + shift)^-1| is at most 1 / (2 sqrt(shift))
  for (std::size_t l = 0; l < z.shift.size(); ++l) gain += z.weight[l] / (2 * std::sqrt(z.shift[l]));
  const double allowed = z.error + gain * goal(s).tolerance + 16 * DBL_EPSILON * s.most / s.least;
  if (const auto beyond = static_cast<double>(std::abs(taken - needed)), most = 0.25 * static_cast<double>(needed);
      s.outcome.violation <= allowed && beyond > most)
    return fl::Check::of(beyond, most, fl::text("%lld iterations were executed, but plain loops need %lld for the result", taken, needed));
  return fl::Check::of(s.outcome.violation, allowed,
                       fl::text("after %lld iterations |(g5 D + D g5 - 2 D g5 D) psi| / |psi| is %.4g; |H| in [%.4g, %.4g], sign to %.3g",
                                taken, s.outcome.violation, s.least, s.most, z.error));
}

}  // namespace dirac_overlap
