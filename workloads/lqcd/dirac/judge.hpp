// What a result must be. Compiled with the harness's own flags; everything about the operator comes from ../reference.hpp.
#pragma once

#include <cfloat>

#include "dirac.hpp"
#include "firstlight/error_summary.hpp"

namespace dirac {

// Results on 4^4, from two independent implementations.
struct Published {
  double plaquette, psi, d[2], product_re, product_im, dhat;  // d: periodic, antiperiodic; the rest periodic
};
inline constexpr Published published{0.012337549022157, 513.0781428890, {10752.7212084013, 10680.8187278149},
                                     2107.6384883855,   8.5471924112,   4542.738225674};

inline double epsilon(const State& s) { return s.bits == 32 ? FLT_EPSILON : DBL_EPSILON; }

inline constexpr fl::Index all_sites_up_to = 16384, sites_of_dhat = 2048;  // compared on each process; Dhat is nine times as slow

// A step: its factor, and what changed at which sites.
struct Step {
  double scale;
  fl::ChangeLog ages;

  Step(const State& s, fl::Index last)
      : scale(fl::step_factor(last)), ages(s.changed_sites.ages(s.changed == nullptr || last >= fl::beyond_timing ? last : s.renewed)) {}
};

// The global field psi of a step: corners of blocks turn with it, and some sites, see mutate_inputs().
inline lqcd::Spinor input(const State& s, const Extents& x, const Step& step) {
  const lqcd::Spinor given = s.given.spinor(x);
  const double divisor = s.changed_sites.divisor(step.ages, x);
  const lqcd::Spinor psi = divisor == 1 ? given : lqcd::combine(1 / divisor, given, 0, given);
  if (!turns(s)) return psi;
  bool first = true, last = true;
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const fl::Index n = s.layout.lattice.local[mu];
    first = first && x[mu] % n == 0;
    last = last && x[mu] % n == n - 1;
  }
  return first || last ? lqcd::combine(1 / step.scale, given, 0, given) : psi;
}

inline lqcd::Spinor expected(const State& s, const Extents& x, const Step& step) {
  const double scale = step.scale;
  const auto psi = [&](const Extents& y) { return input(s, y, step); };
  switch (s.op) {
    case Op::d:
      return lqcd::combine(scale, lqcd::reference_d(s.given, x, psi), 0, psi(x));
    case Op::dhat:
      return lqcd::combine(scale, lqcd::reference_dhat(s.given, x, psi), 0, psi(x));
    default: {
      const lqcd::Spinor a = psi(x), b = s.given.spinor(x, 1);
      lqcd::Spinor sum = b;
      for (std::size_t spin = 0; spin < 4; ++spin)
        for (std::size_t c = 0; c < 3; ++c) sum[spin][c] += scale * (factor * a[spin][c]);
      return sum;
    }
  }
}

// Every site, or as many as one can afford at a stride that is odd, so that all coordinates and lanes occur, and those that change.
template <class T>
void compare_sites(const State& s, const T* out, const Step& step, fl::WorstError& worst, fl::Index& compared) {
  const double scale = step.scale;
  const fl::Index volume = s.layout.lattice.volume(), most = s.op == Op::dhat ? sites_of_dhat : all_sites_up_to;
  const fl::Index sites = s.op == Op::dhat ? volume / 2 : volume;
  const fl::Index stride = sites <= most ? 1 : (volume / most) | 1;
  const auto compare = [&](const Extents& x) {
    const lqcd::Spinor wanted = expected(s, s.layout.lattice.to_global(x), step), found = lqcd::get_spinor(out, s.layout, x);
    ++compared;
    for (std::size_t spin = 0; spin < 4; ++spin)
      for (std::size_t c = 0; c < 3; ++c) {
        const Complex f = found[spin][c], w = wanted[spin][c];
        const double error = std::sqrt(lqcd::norm(f - w)), allowed = 64 * scale * epsilon(s);
        if (worst.exceeded_by(error, allowed))
          worst.consider(error, allowed, [&] {
            return fl::text("spin %zu, colour %zu at site (%lld, %lld, %lld, %lld) of process %d is %.9g %+.9g i, should be %.9g %+.9g i",
                            spin, c, x[0], x[1], x[2], x[3], s.team.rank, f.re, f.im, w.re, w.im);
          });
      }
  };
  for (fl::Index k = 0; k < volume; k += stride) {
    const Extents x = lqcd::place(k, s.layout.lattice.local);
    if (s.op != Op::dhat || lqcd::parity(x) == 0) compare(x);
  }
  if (stride > 1) s.changed_sites.each_site(compare);
}

struct Products {
  double out = 0;   // |out|^2
  Complex product;  // <psi, out>
};

// Over the whole field and all processes, scale removed: no site may hold what is not a number. Collective.
template <class T>
Products products(const State& s, const T* out, double scale) {
  Products mine;
  lqcd::each_site(s.layout.lattice.local, [&](const Extents& x) {
    if (s.op == Op::dhat && lqcd::parity(x) != 0) return;
    const lqcd::Spinor found = lqcd::get_spinor(out, s.layout, x);
    mine.out += lqcd::dot(found, found).re / (scale * scale);
    mine.product += (1 / scale) * lqcd::dot(s.given.spinor(s.layout.lattice.to_global(x)), found);
  });
  return {fl::total(mine.out), {fl::total(mine.product.re), fl::total(mine.product.im)}};
}

inline void compare_published(const State& s, const Products& found, fl::WorstError& worst) {
  const double allowed = std::max(4 * epsilon(s), 1e-12);
  const auto hold = [&](const char* name, double value, double wanted, double size) {
    worst.consider(std::abs(value - wanted), allowed * size,
                   [&] { return fl::text("%s on 4^4 is %.14g, should be %.14g", name, value, wanted); });
  };
  const std::size_t antiperiodic = s.given.antiperiodic ? 1 : 0;
  if (s.op == Op::d) hold("|D psi|^2", found.out, published.d[antiperiodic], published.d[antiperiodic]);
  if (antiperiodic) return;
  hold("the mean plaquette", lqcd::reference_plaquette(s.given), published.plaquette, 1);
  if (s.op == Op::dhat) hold("|Dhat psi_e|^2", found.out, published.dhat, published.dhat);
  if (s.op != Op::d) return;
  const double size = std::sqrt(published.psi * published.d[0]);
  hold("Re <psi, D psi>", found.product.re, published.product_re, size);
  hold("Im <psi, D psi>", found.product.im, published.product_im, size);
}

// The result of that step, site by site. Collective.
inline Products compare_field(State& s, fl::Index last, fl::WorstError& worst, fl::Index& compared) {
  const Step step(s, last);
  if (s.fetch != nullptr) s.fetch(s);
  const Products found = in_precision(s, [&](auto& a) {
    compare_sites(s, a.out.data(), step, worst, compared);
    return products(s, a.out.data(), step.scale);
  });
  if (!std::isfinite(found.out)) worst.consider(found.out, 1, [] { return "a site has a value that is not a number"; });
  return found;
}

// The published results are those of psi as it is given: one untimed step with it, whose iteration is returned. Collective.
inline fl::Index step_of_given(State& s) {
  in_precision(s, [&](auto& a) { s.changed_sites.restore(a.psi.data(), s.layout); });
  if (s.changed != nullptr) s.changed(s);
  const fl::Index iteration = fl::beyond_timing + s.rounds++;
  poison(s);
  fl::run_steps(iteration, 1);
  return iteration;
}
inline bool is_published(const State& s) { return s.given.global == Extents{4, 4, 4, 4} && s.op != Op::axpy; }

inline fl::Check check_field(State& s, fl::Index last) {
  fl::WorstError worst;
  fl::Index compared = 0;
  Products found = compare_field(s, last, worst, compared);
  if (is_published(s)) {
    found = compare_field(s, step_of_given(s), worst, compared);
    compare_published(s, found, worst);
  }
  return worst.check(fl::text("%lld sites of %lld compared, all agree; |out|^2 = %.15g, <psi, out> = %.15g %+.15g i", compared,
                              s.layout.lattice.volume(), found.out, found.product.re, found.product.im));
}

// dot and norm. Every process has the sum over all. Numbers are rounded to the precision at hand before they are multiplied.
inline fl::Check check_sum(State& s, fl::Index last) {
  const Step step(s, last);
  const double scale = step.scale;
  long double re = 0, im = 0, size = 0;
  const auto rounded = [&](double value) { return s.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value; };
  lqcd::each_site(s.layout.lattice.local, [&](const Extents& x) {
    const Extents global = s.layout.lattice.to_global(x);
    const lqcd::Spinor psi = input(s, global, step), chi = s.op == Op::dot ? s.given.spinor(global, 1) : psi;
    for (std::size_t spin = 0; spin < 4; ++spin)
      for (std::size_t c = 0; c < 3; ++c) {
        const Complex a{rounded(psi[spin][c].re), rounded(psi[spin][c].im)}, b{rounded(chi[spin][c].re), rounded(chi[spin][c].im)};
        const Complex term = lqcd::conj(a) * b;
        re += term.re, im += term.im, size += std::abs(a.re * b.re) + std::abs(a.im * b.im);
      }
  });
  const Complex wanted{scale * fl::total(static_cast<double>(re)), s.op == Op::dot ? scale * fl::total(static_cast<double>(im)) : 0};
  const double error = std::sqrt(lqcd::norm(s.sum - wanted));
  return fl::Check::of(error, 16 * epsilon(s) * scale * fl::total(static_cast<double>(size)),
                       fl::text("the sum is %.15g %+.15g i, should be %.15g %+.15g i", s.sum.re, s.sum.im, wanted.re, wanted.im));
}

inline fl::Check check(State& s, fl::Index last) {
  if (is_operator(s.op) || s.op == Op::axpy) return check_field(s, last);
  const fl::Check found = check_sum(s, last);
  return is_published(s) && fl::total(found.ok ? 0 : 1) == 0 ? check_sum(s, step_of_given(s)) : found;
}

}  // namespace dirac
