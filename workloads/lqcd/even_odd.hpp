// The even-odd preconditioned operator for a solver: Dhat = m - H_eo H_oe / m with m = 4 + m0, and the way from D x = b to
// Dhat x_e = b_e - H_eo b_o / m and back.
//
// Hop(layout, threads) is the hopping term of a layout: hop.apply(target, links, psi, centre, out, a, b) sets the sites of parity
// `target` to a centre + b (the sum of the eight neighbours' terms of psi); no centre: null and a = 0. Hop::lanes are those of the
// layout, Hop::reduce adds the sums of all processes.
#pragma once

#include "algebra.hpp"
#include "scalar.hpp"

namespace lqcd {

template <class T, class Hop>
class EvenOdd {
 public:
  EvenOdd(const Layout& layout, int threads, const T* links, double mass)
      : layout_(layout), hop_(layout_, threads), links_(links), m_(static_cast<T>(4 + mass)), half_(layout.spinor_size() / 2) {}

  // Applies the operator to fields on the even sites.
  void apply(Field<T>& out, const Field<T>& in) {
    hop_.apply(1, links_, in.data(), nullptr, half_.data(), 0, T(-0.5));
    hop_.apply(0, links_, half_.data(), in.data(), out.data(), m_, T(0.5) / m_);
  }

  // Computes the source from a whole field b: even = scale (b_e - H_eo b_o / m)
  void source(Field<T>& even, const T* b, T scale) {
    hop_.apply(0, links_, b + layout_.parity_offset(1), b, even.data(), scale, scale * T(0.5) / m_);
  }

  // x_o = (scale b_o - H_oe x_e) / m, of the whole field x whose even sites are `even`
  void odd_part(T* x, const Field<T>& even, const T* b, T scale) {
    const fl::Index odd = layout_.parity_offset(1);
    hop_.apply(1, links_, even.data(), b + odd, x + odd, scale / m_, T(0.5) / m_);
  }

 private:
  Layout layout_;
  Hop hop_;
  const T* links_;
  T m_;
  Field<T> half_;  // on the odd sites
};

// One site after the other.
template <class T>
struct ScalarHop {
  static constexpr int lanes = 1;
  static constexpr Reduce reduce = nullptr;
  const Layout& layout;

  ScalarHop(const Layout& layout, int) : layout(layout) {}

  void apply(int target, const T* links, const T* psi, const T* centre, T* out, T a, T b) const {
    scalar_hop<Rules>(layout, target, links, psi, centre, out, a, b);
  }
};

}  // namespace lqcd
