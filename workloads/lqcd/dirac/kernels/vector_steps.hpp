// The operators and the linear algebra on virtual nodes, in parts: a thread takes a part, a single one takes part 0 of 1.
#pragma once

#include "../virtual_nodes.hpp"
#include "dirac.hpp"
#include "firstlight/split.hpp"

namespace dirac {

struct Part {
  int number = 0, parts = 1;
  fl::Index begin(fl::Index n) const { return fl::part_begin(n, parts, number); }
  fl::Index end(fl::Index n) const { return fl::part_begin(n, parts, number + 1); }
};

// The orders of sites that the operators need, found once.
struct Orders {
  std::vector<lqcd::Run> both, even, odd;
};

inline Orders orders(const State& s) {
  const std::size_t bytes = lqcd::bytes_in_order(s.team.threads, static_cast<std::size_t>(s.bits / 8));
  return {lqcd::runs(s.layout, lqcd::both, lqcd::everything, bytes), lqcd::runs(s.layout, lqcd::even, lqcd::everything, bytes),
          lqcd::runs(s.layout, lqcd::odd, lqcd::everything, bytes)};
}

// Fields that fit into no private cache are stored past the caches: they would be read first to be overwritten.
inline bool past_the_caches(const State& s) {
  constexpr fl::Index most = fl::Index{4} << 20;
  return (s.layout.links_size() + 2 * s.layout.spinor_size()) * s.bits / 8 / s.team.threads > most;
}

template <class T>
lqcd::Hop<T> job_of_d(State& s, Arrays<T>& a) {
  const fl::Index odd = s.layout.parity_offset(1);
  lqcd::Hop<T> job{&s.layout, a.links.data()};
  job.psi[0] = job.centre[0] = a.psi.data();
  job.psi[1] = job.centre[1] = a.psi.data() + odd;
  job.out[0] = a.out.data();
  job.out[1] = a.out.data() + odd;
  job.a = static_cast<T>(s.scale * (4 + lqcd::mass));
  job.b = static_cast<T>(s.scale * -0.5);
  job.streaming = past_the_caches(s);
  return job;
}

// half = H_oe psi, on the odd sites
template <class T>
lqcd::Hop<T> job_to_odd(State& s, Arrays<T>& a) {
  lqcd::Hop<T> job{&s.layout, a.links.data()};
  job.psi[0] = a.psi.data();
  job.out[1] = a.half.data();
  job.a = 0;
  job.b = static_cast<T>(-0.5);
  job.streaming = past_the_caches(s);
  return job;
}

// out = (4 + m0) psi - H_eo half / (4 + m0), on the even sites
template <class T>
lqcd::Hop<T> job_to_even(State& s, Arrays<T>& a) {
  lqcd::Hop<T> job{&s.layout, a.links.data()};
  job.psi[1] = a.half.data();
  job.centre[0] = a.psi.data();
  job.out[0] = a.out.data();
  job.a = static_cast<T>(s.scale * (4 + lqcd::mass));
  job.b = static_cast<T>(s.scale * 0.5 / (4 + lqcd::mass));
  job.streaming = past_the_caches(s);
  return job;
}

template <bool with_centre, class T>
void hop_part(const lqcd::Hop<T>& job, const std::vector<lqcd::Run>& list, Part part) {
  const auto n = static_cast<fl::Index>(list.size());
  lqcd::hop<with_centre>(job, list.data() + part.begin(n), list.data() + part.end(n));
}

// --- linear algebra: reals are vectors, real and imaginary parts alternate -------------------------------------------------

template <class T>
void axpy_part(State& s, Arrays<T>& a, Part part) {
  using V = lqcd::Vector<T>;
  constexpr fl::Index w = lqcd::lanes<T>, pair = 2 * w;
  const V re = static_cast<T>(s.scale * factor.re) - V{}, im = static_cast<T>(s.scale * factor.im) - V{};
  const fl::Index pairs = a.out.size() / pair;
  const T* psi = a.psi.data();
  const T* chi = a.chi.data();
  T* out = a.out.data();
  for (fl::Index k = part.begin(pairs) * pair; k < part.end(pairs) * pair; k += pair) {
    const V x_re = fl::simd::load<V>(psi + k), x_im = fl::simd::load<V>(psi + k + w);
    V z_re = fl::simd::load<V>(chi + k) + re * x_re, z_im = fl::simd::load<V>(chi + k + w) + re * x_im;
    z_re = z_re - im * x_im;
    z_im = z_im + im * x_re;
    fl::simd::store(out + k, z_re);
    fl::simd::store(out + k + w, z_im);
  }
}

// Sums of an outer site in vectors of the precision of the numbers, of outer sites in 64 bits.
template <class T>
Complex dot_part(const Arrays<T>& a, Part part) {
  using V = lqcd::Vector<T>;
  constexpr fl::Index w = lqcd::lanes<T>, site = 24 * w;
  const fl::Index sites = a.psi.size() / site;
  Complex sum;
  for (fl::Index k = part.begin(sites) * site; k < part.end(sites) * site; k += site) {
    V part_sum[4] = {};  // two chains each for the real and the imaginary part
    fl::simd::unroll<12>([&](auto i) __attribute__((always_inline)) {
      const V x_re = fl::simd::load<V>(a.psi.data() + k + 2 * i * w), x_im = fl::simd::load<V>(a.psi.data() + k + (2 * i + 1) * w);
      const V y_re = fl::simd::load<V>(a.chi.data() + k + 2 * i * w), y_im = fl::simd::load<V>(a.chi.data() + k + (2 * i + 1) * w);
      part_sum[0] = part_sum[0] + x_re * y_re;
      part_sum[1] = part_sum[1] + x_im * y_im;
      part_sum[2] = part_sum[2] + x_re * y_im;
      part_sum[3] = part_sum[3] - x_im * y_re;
    });
    const V re[1] = {part_sum[0] + part_sum[1]}, im[1] = {part_sum[2] + part_sum[3]};
    sum += {static_cast<double>(fl::simd::reduce<T>(re)), static_cast<double>(fl::simd::reduce<T>(im))};
  }
  return sum;
}

template <class T>
Complex norm_part(const Arrays<T>& a, Part part) {
  using V = lqcd::Vector<T>;
  constexpr fl::Index w = lqcd::lanes<T>, site = 24 * w;
  const fl::Index sites = a.psi.size() / site;
  double sum = 0;
  for (fl::Index k = part.begin(sites) * site; k < part.end(sites) * site; k += site) {
    V part_sum[4] = {};
    fl::simd::unroll<24>([&](auto i) __attribute__((always_inline)) {
      const V x = fl::simd::load<V>(a.psi.data() + k + i * w);
      part_sum[i % 4] = part_sum[i % 4] + x * x;
    });
    sum += static_cast<double>(fl::simd::reduce<T>(part_sum));
  }
  return {sum, 0};
}

}  // namespace dirac
