// The hopping term at one site for a device with a thread a site: real number k of all sites is side by side, so that neighbouring
// threads read neighbouring numbers. Compiled by nvcc for the device, and by any compiler as plain functions.
//
// Sites are those of a layout with one lane, in its even-odd order. Of S sites of a parity, real k of site s is at k * S + s: 24 of a
// spinor, 72 of the links of a site (mu * 18 + (row * 3 + column) * 2 + reim); odd sites follow the even ones.
#pragma once

#include <cstdint>

#include "firstlight/cuda.hpp"

namespace lqcd::device {

using Index = long long;

// What a thread must know of the lattice.
struct Shape {
  int n[4] = {};     // extents, the last one the fastest
  int half_row = 0;  // n[3] / 2
  Index sites = 0;   // of one parity

  FL_DEVICE int row(const int (&x)[4]) const { return (x[0] * n[1] + x[1]) * n[2] + x[2]; }
};

// out = a centre + b * (the sum of the neighbours' terms of psi), at the sites of parity `target`. No centre: null.
template <class T>
struct Job {
  Shape shape;
  int target = 0;
  const T *links_here = nullptr, *links_there = nullptr;  // of the sites of that parity, and of the other
  const T* psi = nullptr;                                 // of the other parity
  const T* centre = nullptr;
  T* out = nullptr;
  T a = 0, b = 0;
};

template <class T>
struct Pair {
  T re, im;
};

// i^power z
template <int power, class T>
FL_DEVICE Pair<T> turned(Pair<T> z) {
  if constexpr (power == 0) return z;
  if constexpr (power == 1) return {-z.im, z.re};
  if constexpr (power == 2) return {-z.re, -z.im};
  if constexpr (power == 3) return {z.im, -z.re};
}

// Row `spin` of A in g_mu = [[0, A], [A^+, 0]]: A_0 = -1, A_k = -i s_k. It takes spin `from` times i^power.
template <int mu, int spin>
struct Upper {
  static constexpr int from = mu == 1 || mu == 2 ? 1 - spin : spin;
  static constexpr int power = mu == 0 ? 2 : mu == 1 ? 3 : mu == 2 ? (spin == 0 ? 2 : 0) : (spin == 0 ? 3 : 1);
};
// The same of A^+: row `spin` takes what row `from` of A takes from it, conjugated.
template <int mu, int spin>
struct Lower {
  static constexpr int from = Upper<mu, spin>::from;
  static constexpr int power = (4 - Upper<mu, from>::power) % 4;
};
template <int power, int sign>
inline constexpr int with_sign = sign > 0 ? power : (power + 2) % 4;

template <class T>
FL_DEVICE Pair<T> at(const T* field, Index sites, Index site, int k) {
  return {field[k * sites + site], field[(k + 1) * sites + site]};
}

// sum += (1 + sign g_mu) U psi, or U^+ psi: psi of site `from`, U of site `of`
template <int mu, int sign, bool adjoint, class T>
FL_DEVICE void add_neighbour(Pair<T> (&sum)[12], const T* psi, Index from, const T* links, Index of, Index sites) {
  Pair<T> h[2][3];
  FL_UNROLL
  for (int colour = 0; colour < 3; ++colour) {
    const Pair<T> u0 = at(psi, sites, from, colour * 2), u1 = at(psi, sites, from, (3 + colour) * 2);
    const Pair<T> l0 = turned<with_sign<Upper<mu, 0>::power, sign>>(at(psi, sites, from, ((2 + Upper<mu, 0>::from) * 3 + colour) * 2));
    const Pair<T> l1 = turned<with_sign<Upper<mu, 1>::power, sign>>(at(psi, sites, from, ((2 + Upper<mu, 1>::from) * 3 + colour) * 2));
    h[0][colour] = {u0.re + l0.re, u0.im + l0.im};
    h[1][colour] = {u1.re + l1.re, u1.im + l1.im};
  }
  FL_UNROLL
  for (int row = 0; row < 3; ++row) {
    Pair<T> r[2] = {{0, 0}, {0, 0}};
    FL_UNROLL
    for (int column = 0; column < 3; ++column) {
      Pair<T> u = at(links, sites, of, mu * 18 + (adjoint ? column * 3 + row : row * 3 + column) * 2);
      if constexpr (adjoint) u.im = -u.im;
      FL_UNROLL
      for (int spin = 0; spin < 2; ++spin) {
        r[spin].re += u.re * h[spin][column].re - u.im * h[spin][column].im;
        r[spin].im += u.re * h[spin][column].im + u.im * h[spin][column].re;
      }
    }
    const Pair<T> l0 = turned<with_sign<Lower<mu, 0>::power, sign>>(r[Lower<mu, 0>::from]);
    const Pair<T> l1 = turned<with_sign<Lower<mu, 1>::power, sign>>(r[Lower<mu, 1>::from]);
    const Pair<T> part[4] = {r[0], r[1], l0, l1};
    FL_UNROLL
    for (int spin = 0; spin < 4; ++spin) {
      sum[spin * 3 + row].re += part[spin].re;
      sum[spin * 3 + row].im += part[spin].im;
    }
  }
}

template <int mu, class T>
FL_DEVICE void add_direction(Pair<T> (&sum)[12], const Job<T>& job, const int (&x)[4], Index here) {
  const Shape& s = job.shape;
  int up[4] = {x[0], x[1], x[2], x[3]}, down[4] = {x[0], x[1], x[2], x[3]};
  up[mu] = x[mu] == s.n[mu] - 1 ? 0 : x[mu] + 1;
  down[mu] = x[mu] == 0 ? s.n[mu] - 1 : x[mu] - 1;
  const Index above = static_cast<Index>(s.row(up)) * s.half_row + up[3] / 2,
              below = static_cast<Index>(s.row(down)) * s.half_row + down[3] / 2;
  add_neighbour<mu, -1, false>(sum, job.psi, above, job.links_here, here, s.sites);
  add_neighbour<mu, 1, true>(sum, job.psi, below, job.links_there, below, s.sites);
}

template <class T>
FL_DEVICE void hop_site(const Job<T>& job, Index site) {
  const Shape& s = job.shape;
  const auto row = static_cast<int>(site / s.half_row), k = static_cast<int>(site % s.half_row);
  int x[4] = {row / (s.n[1] * s.n[2]), row / s.n[2] % s.n[1], row % s.n[2], 0};
  x[3] = 2 * k + ((x[0] + x[1] + x[2] + job.target) & 1);
  Pair<T> sum[12] = {};
  add_direction<0>(sum, job, x, site);
  add_direction<1>(sum, job, x, site);
  add_direction<2>(sum, job, x, site);
  add_direction<3>(sum, job, x, site);
  FL_UNROLL
  for (int c = 0; c < 12; ++c) {
    Pair<T> result{job.b * sum[c].re, job.b * sum[c].im};
    if (job.centre != nullptr) {
      const Pair<T> centre = at(job.centre, s.sites, site, 2 * c);
      result.re += job.a * centre.re;
      result.im += job.a * centre.im;
    }
    job.out[2 * c * s.sites + site] = result.re;
    job.out[(2 * c + 1) * s.sites + site] = result.im;
  }
}

// Between a layout with one lane (real k of site s at s * reals + k) and this one, for one parity.
template <class T>
void side_by_side(T* to, const T* from, Index sites, int reals) {
  for (Index s = 0; s < sites; ++s)
    for (int k = 0; k < reals; ++k) to[k * sites + s] = from[s * reals + k];
}
template <class T>
void site_by_site(T* to, const T* from, Index sites, int reals) {
  for (Index s = 0; s < sites; ++s)
    for (int k = 0; k < reals; ++k) to[s * reals + k] = from[k * sites + s];
}

}  // namespace lqcd::device
