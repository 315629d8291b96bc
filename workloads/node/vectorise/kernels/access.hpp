// Loops over strides, indices and two dimensions.
#pragma once

#include <cmath>

#include "state.hpp"

namespace vectorise {

using fl::Index;

// clang-format off
inline void stride_2(State& s, Index) { for (Index i = 0; i < s.n; i += 2) s.x[i] = s.a[i]; }
inline void stride_7(State& s, Index) { for (Index i = 0; i < s.n; i += 7) s.x[i] = s.a[i]; }
inline void stride_interleave(State& s, Index) { for (Index i = 0; i < s.n / 2; ++i) { s.x[2 * i] = s.a[i]; s.x[2 * i + 1] = s.b[i]; } }
inline void stride_pairs(State& s, Index) { for (Index i = 0; i < s.n / 2; ++i) s.x[i] = s.a[2 * i] + s.a[2 * i + 1]; }
inline void stride_down_2(State& s, Index) { for (Index i = s.n - 1; i >= 0; i -= 2) s.x[i] = s.a[i]; }
inline void stride_complex(State& s, Index) {
  for (Index i = 0; i + 2 <= s.n; i += 2) { s.x[i] = s.a[i] * s.b[i] - s.a[i + 1] * s.b[i + 1]; s.x[i + 1] = s.a[i] * s.b[i + 1] + s.a[i + 1] * s.b[i]; }
}
inline void stride_deinterleave(State& s, Index) {
  const Index h = s.n / 2; for (Index i = 0; i < h; ++i) { s.x[i] = s.a[2 * i]; s.x[h + i] = s.a[2 * i + 1]; }
}

inline void gather_rotate(State& s, Index) { Index j = 5; for (Index i = 0; i < s.n; ++i) { s.x[i] = s.a[j]; if (++j == s.n) j = 0; } }
inline void gather_load(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[s.q[i]]; }
inline void gather_add(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.b[i] + s.a[s.p[i]]; }
inline void gather_store(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[s.p[i]] = s.a[i]; }
inline void gather_update(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[s.p[i]] += s.a[i]; }
inline void gather_histogram(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[s.q[i]] += s.a[i]; }
inline void gather_quarters(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i / 4]; }
inline void gather_two(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[s.p[i]] * s.b[s.q[i]]; }
inline void gather_sum(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[s.q[i]]; s.x[0] = t; }
inline void gather_masked(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (s.a[i] > 0) s.x[i] = s.b[s.p[i]]; }

inline void pack_store(State& s, Index) { Index j = 0; for (Index i = 0; i < s.n; ++i) if (s.a[i] > 0) s.x[j++] = s.a[i]; }
inline void pack_load(State& s, Index) { Index j = 0; for (Index i = 0; i < s.n; ++i) if (s.a[i] > 0) s.x[i] = s.b[j++]; }

inline void nest_transpose(State& s, Index) { for (Index i = 0; i < s.m; ++i) for (Index j = 0; j < s.m; ++j) s.x[i * s.m + j] = s.a[j * s.m + i]; }
inline void nest_outer_product(State& s, Index) { for (Index i = 0; i < s.m; ++i) for (Index j = 0; j < s.m; ++j) s.x[i * s.m + j] = s.a[i] * s.a[j]; }
inline void nest_by_columns(State& s, Index) { for (Index j = 0; j < s.m; ++j) for (Index i = 0; i < s.m; ++i) s.x[i * s.m + j] = s.a[i * s.m + j] + s.k; }
inline void nest_rows_recur(State& s, Index) {
  for (Index i = 1; i < s.m; ++i) for (Index j = 0; j < s.m; ++j) s.x[i * s.m + j] = s.x[(i - 1) * s.m + j] + s.a[i * s.m + j];
}
inline void nest_wavefront(State& s, Index) {
  for (Index i = 1; i < s.m; ++i)
    for (Index j = 1; j < s.m; ++j) {
      const double above = s.x[(i - 1) * s.m + j], before = s.x[i * s.m + j - 1];
      s.x[i * s.m + j] = (above > before ? above : before) + s.a[i * s.m + j];
    }
}
inline void nest_lower_triangle(State& s, Index) { for (Index i = 0; i < s.m; ++i) for (Index j = 0; j <= i; ++j) s.x[i * s.m + j] = s.a[i * s.m + j]; }
inline void nest_five_points(State& s, Index) {
  for (Index i = 1; i < s.m - 1; ++i)
    for (Index j = 1; j < s.m - 1; ++j) {
      const double* a = &s.a[i * s.m + j];
      s.x[i * s.m + j] = a[-s.m] + a[-1] + a[1] + a[s.m] - 4 * a[0];
    }
}
inline void nest_row_sums(State& s, Index) {
  for (Index i = 0; i < s.m; ++i) { double t = 0; for (Index j = 0; j < s.m; ++j) t += s.a[i * s.m + j]; s.x[i] = t; }
}
inline void nest_matrix_vector(State& s, Index) {
  for (Index i = 0; i < s.m; ++i) s.x[i] = 0;
  for (Index j = 0; j < s.m; ++j) for (Index i = 0; i < s.m; ++i) s.x[i] += s.a[j * s.m + i] * s.b[j];
}
inline void nest_scaled_rows(State& s, Index) {
  for (Index i = 0; i < s.m; ++i) { const double t = s.b[i]; for (Index j = 0; j < s.m; ++j) s.x[i * s.m + j] = s.a[i * s.m + j] * t; }
}
inline void nest_columns_recur(State& s, Index) {
  for (Index i = 0; i < s.m; ++i) for (Index j = 1; j < s.m; ++j) s.x[i * s.m + j] = s.x[i * s.m + j - 1] + s.a[i * s.m + j];
}
inline void nest_diagonal(State& s, Index) { for (Index i = 0; i < s.m; ++i) s.x[i * (s.m + 1)] = s.a[i * (s.m + 1)]; }
inline void nest_upper_triangle(State& s, Index) {
  for (Index i = 0; i < s.m; ++i) for (Index j = i + 1; j < s.m; ++j) s.x[i * s.m + j] = s.a[i * s.m + j] + s.b[i * s.m + j];
}
inline void nest_column_sums(State& s, Index) { for (Index i = 0; i < s.m; ++i) for (Index j = 0; j < s.m; ++j) s.x[j] += s.a[i * s.m + j]; }
inline void nest_shifted_rows(State& s, Index) {
  for (Index i = 0; i < s.m; ++i) for (Index j = 0; j < s.m - 1; ++j) s.x[i * s.m + j] = s.a[i * s.m + j + 1];
}
// clang-format on

}  // namespace vectorise
