// The operator one site after the other, SIMD within the site: a vector contains the two spins of a half spinor for one colour,
// (spin, reim) = 4 numbers. Links are broadcast number by number. Layout: one lane, Layout::colours_outside.
#pragma once

#include "half.hpp"
#include "walk.hpp"

namespace lqcd {

template <class T>
struct four_of {
  typedef T type __attribute__((vector_size(4 * sizeof(T))));
};
template <class T>
using Four = typename four_of<T>::type;

namespace detail {

constexpr int turned_from(int power, int lane) {
  return power % 2 == 0 ? lane : 1 - lane;
}  // which of (re, im) becomes lane 0, 1 of i^power z
constexpr int turned_sign(int power, int lane) {
  constexpr int signs[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  return signs[power][lane];
}

// Lane by lane: +-1 times a lane of v; spins and powers of i from the two entries.
template <int spin0, int power0, int spin1, int power1, class T>
[[gnu::always_inline]] inline Four<T> moved(const Four<T>& v) {
  constexpr int from[4] = {2 * spin0 + turned_from(power0, 0), 2 * spin0 + turned_from(power0, 1), 2 * spin1 + turned_from(power1, 0),
                           2 * spin1 + turned_from(power1, 1)};
  const Four<T> sign = {T(turned_sign(power0, 0)), T(turned_sign(power0, 1)), T(turned_sign(power1, 0)), T(turned_sign(power1, 1))};
#if __has_builtin(__builtin_shufflevector)
  return sign * __builtin_shufflevector(v, v, from[0], from[1], from[2], from[3]);
#else
  return sign * Four<T>{v[from[0]], v[from[1]], v[from[2]], v[from[3]]};
#endif
}

template <int mu, int sign, class T>
[[gnu::always_inline]] inline Four<T> a_times(const Four<T>& lower) {  // sign A
  constexpr Entry e = upper_entry(mu, 0), f = upper_entry(mu, 1);
  return moved<e.spin, signed_power(e.power, sign), f.spin, signed_power(f.power, sign), T>(lower);
}
template <int mu, int sign, class T>
[[gnu::always_inline]] inline Four<T> a_adjoint_times(const Four<T>& upper) {  // sign A^+
  constexpr Entry e = lower_entry(mu, 0), f = lower_entry(mu, 1);
  return moved<e.spin, signed_power(e.power, sign), f.spin, signed_power(f.power, sign), T>(upper);
}

// sum += (1 + sign g_mu) U psi, or U^+ psi
template <int mu, int sign, bool adjoint, class T>
[[gnu::always_inline]] inline void add_neighbour(Four<T> (&sum)[6], const T* u, const T* psi) {
  using V = Four<T>;
  V h[3], turned[3];
  fl::simd::unroll<3>([&](auto c) __attribute__((always_inline)) {
    h[c] = fl::simd::load<V>(psi + 4 * c) + a_times<mu, sign, T>(fl::simd::load<V>(psi + 12 + 4 * c));
    turned[c] = moved<0, 1, 1, 1, T>(h[c]);
  });
  fl::simd::unroll<3>([&](auto row) __attribute__((always_inline)) {
    V r{};
    fl::simd::unroll<3>([&](auto column) __attribute__((always_inline)) {
      constexpr int at = (adjoint ? column * 3 + row : row * 3 + column) * 2;
      const V re = u[at] - V{}, im = u[at + 1] - V{};
      if constexpr (column == 0)
        r = re * h[column];
      else
        r = r + re * h[column];
      r = adjoint ? r - im * turned[column] : r + im * turned[column];
    });
    sum[row] += r;
    sum[3 + row] += a_adjoint_times<mu, sign, T>(r);
  });
}

}  // namespace detail

// As scalar_hop(): out(x) = a centre(x) + b (the sum of the eight neighbours' terms of psi).
template <class T>
void site_hop(const Layout& layout, int target, const T* links, const T* psi, const T* centre, T* out, T a, T b) {
  using V = Four<T>;
  const Index target_first = target * layout.half_volume, other_first = (1 - target) * layout.half_volume;
  each_target(layout, target, [&](const Neighbours& site) {
    V sum[6] = {};
    fl::simd::unroll<4>([&](auto mu) __attribute__((always_inline)) {
      detail::add_neighbour<mu, -1, false, T>(sum, links + (site.here * 4 + mu) * 18, psi + (site.up[mu] - other_first) * 24);
      detail::add_neighbour<mu, 1, true, T>(sum, links + (site.down[mu] * 4 + mu) * 18, psi + (site.down[mu] - other_first) * 24);
    });
    T* to = out + (site.here - target_first) * 24;
    const T* from = centre == nullptr ? nullptr : centre + (site.here - target_first) * 24;
    fl::simd::unroll<6>([&](auto k) __attribute__((always_inline)) {
      const V term = b * sum[k];
      fl::simd::store(to + 4 * k, from == nullptr ? term : V{a * fl::simd::load<V>(from + 4 * k) + term});
    });
  });
}

}  // namespace lqcd
