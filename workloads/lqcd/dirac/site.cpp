// SIMD within a site: the two spins of a half spinor side by side. Linear algebra needs no more than that numbers are side by side.
#include "../site.hpp"
#include "kernels/scalar_steps.hpp"

#include "firstlight/variant.hpp"

namespace {

// Sums over all numbers of pairs that are side by side: products lane by lane give the real part, with the neighbour the imaginary.
template <class T>
dirac::Complex sum_of_products(const T* x, const T* y, fl::Index size, bool imaginary) {
  using V = lqcd::Four<T>;
  dirac::Complex sum;
  for (fl::Index site = 0; site < size; site += 24) {
    V re[2] = {}, im[2] = {};
    fl::simd::unroll<6>([&](auto k) __attribute__((always_inline)) {
      const V a = fl::simd::load<V>(x + site + 4 * k), b = fl::simd::load<V>(y + site + 4 * k);
      re[k % 2] = re[k % 2] + a * b;
      if (imaginary) im[k % 2] = im[k % 2] - a * lqcd::detail::moved<0, 1, 1, 1, T>(b);
    });
    const V r = re[0] + re[1], i = im[0] + im[1];
    sum += {static_cast<double>((r[0] + r[1]) + (r[2] + r[3])), static_cast<double>((i[0] + i[1]) + (i[2] + i[3]))};
  }
  return sum;
}

template <class T>
void axpy(dirac::State& s, dirac::Arrays<T>& a) {
  using V = lqcd::Four<T>;
  const V re = static_cast<T>(s.scale * dirac::factor.re) - V{}, im = static_cast<T>(s.scale * dirac::factor.im) - V{};
  for (fl::Index k = 0; k < a.out.size(); k += 4) {
    const V x = fl::simd::load<V>(a.psi.data() + k);
    const V z = fl::simd::load<V>(a.chi.data() + k) + re * x;
    fl::simd::store(a.out.data() + k, V{z + im * lqcd::detail::moved<0, 1, 1, 1, T>(x)});
  }
}

void step(dirac::State& s, fl::Index) {
  dirac::in_precision(s, [&]<class T>(dirac::Arrays<T>& a) {
    switch (s.op) {
      case dirac::Op::axpy:
        return axpy(s, a);
      case dirac::Op::dot:
        s.sum = s.scale * sum_of_products(a.psi.data(), a.chi.data(), a.psi.size(), true);
        return;
      case dirac::Op::norm:
        s.sum = s.scale * sum_of_products(a.psi.data(), a.psi.data(), a.psi.size(), false);
        return;
      default:
        return dirac::operator_by<T>(&lqcd::site_hop<T>, s, a);
    }
  });
}

}  // namespace

FL_VARIANT(dirac, step, .traits = {.colours_outside = true})
