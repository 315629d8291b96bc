// Both triangular systems.
#pragma once

#include "firstlight/simd.hpp"
#include "lu.hpp"

namespace lu {

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

// U x = y for a block of U on the diagonal; x takes y's place.
inline void solve_block(const double* u, Index ld, double* x, Index n) {
  for (Index i = n - 1; i >= 0; --i) x[i] = (x[i] - product_of(u + i * ld, x, i + 1, n)) / u[i * ld + i];
}

// Rows one after the other.
struct InOrder {
  template <class Body>
  void operator()(Index count, const Body& body) const {
    for (Index i = 0; i < count; ++i) body(i);
  }
};

// U x = y, which is behind U: block after block from the last one on, and what its x adds to the rows above by `each`, in whatever order.
template <class Each = InOrder>
void solve_upper(State& s, const Each& each = {}) {
  for (Index i = 0; i < s.n; ++i) s.x[i] = s.row(i)[s.n];
  for (Index k = (s.n - 1) / s.p.block * s.p.block; k >= 0; k -= s.p.block) {
    const Index width = std::min(s.p.block, s.n - k);
    double* x = s.x.data() + k;
    solve_block(s.row(k) + k, s.ld, x, width);
    each(k, [&](Index i) { s.x[i] -= product_of(s.row(i) + k, x, 0, width); });
  }
}

// L y = P b, then U x = y.
inline void solve(State& s) {
  const fl::In in(phases("solve"));
  for (Index i = 0; i < s.n; ++i) s.x[i] = s.factor * s.b[i];
  for (Index k = 0; k < s.n; k += s.p.block) {
    const Index end = std::min(k + s.p.block, s.n);
    for (Index i = k; i < end; ++i) std::swap(s.x[i], s.x[s.pivot[i]]);
    for (Index i = k; i < s.n; ++i) s.x[i] -= product_of(s.row(i), s.x.data(), k, std::min(i, end));
  }
  for (Index i = 0; i < s.n; ++i) s.row(i)[s.n] = s.x[i];
  solve_upper(s);
}

}  // namespace lu
