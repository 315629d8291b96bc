// One row at a time: interpolation, restriction, the operator and its energy. A row of a grid has zeros beyond both ends.
//
// On the uniform mesh the quadratic operator is 4/3 of the linear one on all nodes less 1/3 of that on the vertices:
//   A = 4/3 A_h/2 - 1/3 A_h,
// and a linear operator is a sum over edges, w (u_a - u_b)^2, w = 1 inside and 1/2 along the border of a block (the diagonal edges,
// opposite to a right angle, have none). A node at odd i or odd j is a mid-point and has no part in the second sum.
#pragma once

#include "firstlight/simd.hpp"
#include "grid.hpp"

namespace fem2d {

using Vector = fl::simd::native<double>;
inline constexpr int lanes = fl::simd::width<double>;

inline double total(const Vector& v) {
  double sum = 0;
  for (int k = 0; k < lanes; ++k) sum += v[k];
  return sum;
}

// Row j of the interpolant of `coarse` (whose row J is `at(J)`), nx + 1 values, linear on triangles cut by the diagonal (1,0)-(0,1).
template <class Real>
inline void interpolate(double* __restrict out, const Real* __restrict low, const Real* __restrict high, fl::Index nx, bool odd) {
  const fl::Index half = nx / 2;
  const auto half_sum = [](Real a, Real b) { return 0.5 * (static_cast<double>(a) + static_cast<double>(b)); };
  if (odd) {
    for (fl::Index k = 0; k < half; ++k) {
      out[2 * k] = half_sum(low[k], high[k]);
      out[2 * k + 1] = half_sum(low[k + 1], high[k]);
    }
    out[nx] = half_sum(low[half], high[half]);
  } else {
    for (fl::Index k = 0; k < half; ++k) {
      out[2 * k] = low[k];
      out[2 * k + 1] = half_sum(low[k], low[k + 1]);
    }
    out[nx] = low[half];
  }
}

// The transpose: row J from rows 2J - 1, 2J, 2J + 1 of the finer grid.
template <class Coarse, class Fine>
inline void restrict_row(Coarse* __restrict out, const Fine* __restrict below, const Fine* __restrict mid, const Fine* __restrict above,
                         fl::Index coarse_nx) {
  constexpr auto half = Fine(0.5);
  for (fl::Index k = 0; k <= coarse_nx; ++k)
    out[k] = static_cast<Coarse>(
        mid[2 * k] + half * (mid[2 * k - 1] + mid[2 * k + 1] + below[2 * k] + below[2 * k + 1] + above[2 * k] + above[2 * k - 1]));
}

inline double dot(const double* a, const double* b, fl::Index count) {
  Vector sum[2] = {};
  fl::Index i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes)
    fl::simd::unroll<2>([&](auto k) { sum[k] += fl::simd::load<Vector>(a + i + k * lanes) * fl::simd::load<Vector>(b + i + k * lanes); });
  double rest = 0;
  for (; i < count; ++i) rest += a[i] * b[i];
  return total(sum[0] + sum[1]) + rest;
}

inline double square_sum(const double* row, fl::Index count) { return dot(row, row, count); }

// In 64 bits, also of rows of 32.
inline double square_sum(const float* row, fl::Index count) {
  double sum[8] = {};
  fl::Index i = 0;
  for (; i + 8 <= count; i += 8)
    for (int k = 0; k < 8; ++k) sum[k] += static_cast<double>(row[i + k]) * static_cast<double>(row[i + k]);
  for (; i < count; ++i) sum[0] += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

// u^T A u of the edges that end in row j: those along it, and those from it down to row j - 1 (and j - 2 on the vertices).
// `along` is the weight of edges along this row.
inline double row_energy(const double* row, const double* below, const double* below2, fl::Index nx, bool even, double along) {
  const auto square = [](auto d) { return d * d; };
  double fine = 0, vertices = 0;
  Vector f = {}, v = {};
  fl::Index i = 0;
  Vector is_vertex;
  for (int k = 0; k < lanes; ++k) is_vertex[k] = k % 2 == 0 ? 1 : 0;
  if (below != nullptr && even && below2 != nullptr) {
    for (; i + lanes <= nx; i += lanes) {
      const auto c = fl::simd::load<Vector>(row + i);
      f += along * square(fl::simd::load<Vector>(row + i + 1) - c) + square(c - fl::simd::load<Vector>(below + i));
      v += is_vertex * (along * square(fl::simd::load<Vector>(row + i + 2) - c) + square(c - fl::simd::load<Vector>(below2 + i)));
    }
  } else if (below != nullptr && !even) {
    for (; i + lanes <= nx; i += lanes) {
      const auto c = fl::simd::load<Vector>(row + i);
      f += along * square(fl::simd::load<Vector>(row + i + 1) - c) + square(c - fl::simd::load<Vector>(below + i));
    }
  }
  for (; i <= nx; ++i) {
    if (i < nx) fine += along * square(row[i + 1] - row[i]);
    if (below != nullptr) fine += square(row[i] - below[i]);
    if (even && i % 2 == 0) {
      if (i < nx) vertices += along * square(row[i + 2] - row[i]);
      if (below2 != nullptr) vertices += square(row[i] - below2[i]);
    }
  }
  // The two columns of the border have half weight.
  for (const fl::Index b : {fl::Index{0}, nx}) {
    if (below != nullptr) fine -= 0.5 * square(row[b] - below[b]);
    if (even && below2 != nullptr) vertices -= 0.5 * square(row[b] - below2[b]);
  }
  return 4.0 / 3 * (fine + total(f)) - 1.0 / 3 * (vertices + total(v));
}

// (A u)(i, j), for the border of a block: every edge that is there, with its weight.
inline double apply_at(const Grid& u, fl::Index i, fl::Index j) {
  const double along_x = j == 0 || j == u.ny ? 0.5 : 1, along_y = i == 0 || i == u.nx ? 0.5 : 1;
  const double c = u.at(i, j);
  const auto edges = [&](fl::Index step) {
    double sum = 0;
    if (i >= step) sum += along_x * (c - u.at(i - step, j));
    if (i + step <= u.nx) sum += along_x * (c - u.at(i + step, j));
    if (j >= step) sum += along_y * (c - u.at(i, j - step));
    if (j + step <= u.ny) sum += along_y * (c - u.at(i, j + step));
    return sum;
  };
  const double fine = 4.0 / 3 * edges(1);
  return i % 2 == 0 && j % 2 == 0 ? fine - 1.0 / 3 * edges(2) : fine;
}

// use(i, (A u)(i, j)) for a whole row.
template <class Use>
[[gnu::always_inline]] inline void apply_row(const Grid& u, fl::Index j, Use use) {
  if (j == 0 || j == u.ny) {
    for (fl::Index i = 0; i <= u.nx; ++i) use(i, apply_at(u, i, j));
    return;
  }
  const double *c = u.row(j), *below = u.row(j - 1), *above = u.row(j + 1);
  const double edge = apply_at(u, 0, j), last = apply_at(u, u.nx, j);
  if (j % 2 != 0) {
    FL_INDEPENDENT
    for (fl::Index i = 1; i < u.nx; ++i) use(i, 16.0 / 3 * c[i] - 4.0 / 3 * (c[i - 1] + c[i + 1] + below[i] + above[i]));
  } else {
    const double *below2 = u.row(j - 2), *above2 = u.row(j + 2);
    FL_INDEPENDENT
    for (fl::Index i = 1; i < u.nx; ++i) {
      const double mid = 16.0 / 3 * c[i] - 4.0 / 3 * (c[i - 1] + c[i + 1] + below[i] + above[i]);
      const double far = 4.0 / 3 * c[i] - 1.0 / 3 * (c[i - 2] + c[i + 2] + below2[i] + above2[i]);
      use(i, i % 2 == 0 ? mid - far : mid);
    }
  }
  use(0, edge);
  use(u.nx, last);
}

}  // namespace fem2d
