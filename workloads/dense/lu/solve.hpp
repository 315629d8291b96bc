// Both triangular systems.
#pragma once

#include "firstlight/simd.hpp"
#include "lu.hpp"

namespace lu::inline FL_ROLE {

// The sum of a[j] x[j] for begin <= j < end, in vectors side by side.
inline double product_of(const double* a, const double* x, Index begin, Index end) {
  using Vector = fl::simd::native<double>;
  constexpr int lanes = fl::simd::width<double>, several = 4;
  Vector sum[several] = {};
  Index j = begin;
  for (; j + several * lanes <= end; j += several * lanes)
    fl::simd::unroll<several>(
        [&](auto v) { sum[v] += fl::simd::load<Vector>(a + j + v * lanes) * fl::simd::load<Vector>(x + j + v * lanes); });
  double all = fl::simd::reduce<double>(sum);
  for (; j < end; ++j) all += a[j] * x[j];
  return all;
}

// U x = y, which stands behind U.
inline void solve_upper(State& s) {
  for (Index i = s.n - 1; i >= 0; --i) s.x[i] = (s.row(i)[s.n] - product_of(s.row(i), s.x.data(), i + 1, s.n)) / s.row(i)[i];
}

// L y = P b, then U x = y.
inline void solve(State& s) {
  const fl::In in(phases("solve"));
  for (Index i = 0; i < s.n; ++i) s.x[i] = s.factor * s.b[i];
  for (Index k = 0; k < s.n; ++k) std::swap(s.x[k], s.x[s.pivot[k]]);
  for (Index i = 0; i < s.n; ++i) s.row(i)[s.n] = s.x[i] -= product_of(s.row(i), s.x.data(), 0, i);
  solve_upper(s);
}

}  // namespace lu::inline FL_ROLE
