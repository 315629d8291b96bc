// The operators and the linear algebra in plain loops, on a layout with one lane.
#pragma once

#include "../scalar.hpp"
#include "dirac.hpp"

namespace dirac {

template <class T>
using HopOf = void (*)(const Layout&, int target, const T* links, const T* psi, const T* centre, T* out, T a, T b);

// D or Dhat by a function that hops.
template <class T>
void operator_by(HopOf<T> hop, State& s, Arrays<T>& a) {
  const T diagonal = static_cast<T>(4 + lqcd::mass), scale = static_cast<T>(s.scale);
  const T* even = a.psi.data();
  const T* odd = even + s.layout.parity_offset(1);
  T* out = a.out.data();
  if (s.op == Op::d) {
    hop(s.layout, 0, a.links.data(), odd, even, out, scale * diagonal, scale * T(-0.5));
    hop(s.layout, 1, a.links.data(), even, odd, out + s.layout.parity_offset(1), scale * diagonal, scale * T(-0.5));
  } else {
    const T* none = nullptr;
    hop(s.layout, 1, a.links.data(), even, none, a.half.data(), T(0), T(-0.5));
    hop(s.layout, 0, a.links.data(), a.half.data(), even, out, scale * diagonal, scale * T(0.5) / diagonal);
  }
}

template <class T>
void scalar_axpy(State& s, Arrays<T>& a) {
  const T re = static_cast<T>(s.scale * factor.re), im = static_cast<T>(s.scale * factor.im);
  for (fl::Index k = 0; k < a.out.size(); k += 2) {
    a.out[k] = re * a.psi[k] - im * a.psi[k + 1] + a.chi[k];
    a.out[k + 1] = re * a.psi[k + 1] + im * a.psi[k] + a.chi[k + 1];
  }
}

// Sums of a site in the precision of the numbers, of sites in 64 bits.
template <class T>
void scalar_dot(State& s, Arrays<T>& a) {
  Complex sum;
  for (fl::Index site = 0; site < a.psi.size(); site += 24) {
    T re = 0, im = 0;
    for (fl::Index k = site; k < site + 24; k += 2) {
      re += a.psi[k] * a.chi[k] + a.psi[k + 1] * a.chi[k + 1];
      im += a.psi[k] * a.chi[k + 1] - a.psi[k + 1] * a.chi[k];
    }
    sum += {static_cast<double>(re), static_cast<double>(im)};
  }
  s.sum = s.scale * sum;
}

template <class T>
void scalar_norm(State& s, Arrays<T>& a) {
  double sum = 0;
  for (fl::Index site = 0; site < a.psi.size(); site += 24) {
    T part = 0;
    for (fl::Index k = site; k < site + 24; ++k) part += a.psi[k] * a.psi[k];
    sum += static_cast<double>(part);
  }
  s.sum = {s.scale * sum, 0};
}

template <class Rules>
void scalar_step(State& s) {
  in_precision(s, [&]<class T>(Arrays<T>& a) {
    switch (s.op) {
      case Op::axpy:
        return scalar_axpy(s, a);
      case Op::dot:
        return scalar_dot(s, a);
      case Op::norm:
        return scalar_norm(s, a);
      default:
        return operator_by<T>(&lqcd::scalar_hop<Rules, T>, s, a);
    }
  });
}

}  // namespace dirac
