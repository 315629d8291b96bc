// What a result must be. Compiled with the harness's own flags; everything about the operator comes from ../reference.hpp.
#pragma once

#include <cfloat>

#include "dirac.hpp"
#include "firstlight/damage.hpp"

namespace dirac::inline FL_ROLE {

// Results on 4^4, from two independent implementations.
struct Published {
  double plaquette, psi, d[2], product_re, product_im, dhat;  // d: periodic, antiperiodic; the rest periodic
};
inline constexpr Published published{0.012337549022157, 513.0781428890, {10752.7212084013, 10680.8187278149},
                                     2107.6384883855,   8.5471924112,   4542.738225674};

inline double epsilon(const State& s) { return s.bits == 32 ? FLT_EPSILON : DBL_EPSILON; }

inline constexpr fl::Index all_sites_up_to = 16384, sites_of_dhat = 2048;  // compared on each process; Dhat takes nine times as long

// The global field psi of the step of that scale: corners of blocks turn with it, see touch().
inline lqcd::Spinor input(const State& s, const Extents& x, double scale) {
  const lqcd::Spinor psi = s.given.spinor(x);
  if (!turns(s)) return psi;
  bool first = true, last = true;
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const fl::Index n = s.layout.lattice.local[mu];
    first = first && x[mu] % n == 0;
    last = last && x[mu] % n == n - 1;
  }
  return first || last ? lqcd::combine(1 / scale, psi, 0, psi) : psi;
}

inline lqcd::Spinor expected(const State& s, const Extents& x, double scale) {
  const auto psi = [&](const Extents& y) { return input(s, y, scale); };
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

// Every site, or as many as one can afford at a stride that is odd, so that all coordinates and lanes occur.
template <class T>
void compare_sites(const State& s, const T* out, double scale, fl::WorstError& worst, fl::Index& compared) {
  const fl::Index volume = s.layout.lattice.volume(), most = s.op == Op::dhat ? sites_of_dhat : all_sites_up_to;
  const fl::Index sites = s.op == Op::dhat ? volume / 2 : volume;
  const fl::Index stride = sites <= most ? 1 : (volume / most) | 1;
  for (fl::Index k = 0; k < volume; k += stride) {
    const Extents x = lqcd::place(k, s.layout.lattice.local);
    if (s.op == Op::dhat && lqcd::parity(x) != 0) continue;
    const lqcd::Spinor wanted = expected(s, s.layout.lattice.to_global(x), scale), found = lqcd::get_spinor(out, s.layout, x);
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
  }
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

inline fl::Check check_field(State& s, double scale) {
  fl::WorstError worst;
  fl::Index compared = 0;
  const Products found = in_precision(s, [&](auto& a) {
    compare_sites(s, a.out.data(), scale, worst, compared);
    return products(s, a.out.data(), scale);
  });
  if (!std::isfinite(found.out)) worst.consider(found.out, 1, [] { return "some site holds no number"; });
  if (lqcd::product(s.given.global) == 256 && s.given.global == Extents{4, 4, 4, 4}) compare_published(s, found, worst);
  return worst.check(fl::text("%lld sites of %lld compared, all agree; |out|^2 = %.15g, <psi, out> = %.15g %+.15g i", compared,
                              s.layout.lattice.volume(), found.out, found.product.re, found.product.im));
}

// dot and norm. Every process has the sum over all. Numbers are rounded to the precision at hand before they are multiplied.
inline fl::Check check_sum(State& s, double scale) {
  long double re = 0, im = 0, size = 0;
  const auto rounded = [&](double value) { return s.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value; };
  lqcd::each_site(s.layout.lattice.local, [&](const Extents& x) {
    const Extents global = s.layout.lattice.to_global(x);
    const lqcd::Spinor psi = s.given.spinor(global), chi = s.given.spinor(global, s.op == Op::dot ? 1 : 0);
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
  const double scale = fl::step_factor(last);
  if (s.fetch != nullptr) s.fetch(s);
  return is_operator(s.op) || s.op == Op::axpy ? check_field(s, scale) : check_sum(s, scale);
}

}  // namespace dirac::inline FL_ROLE
