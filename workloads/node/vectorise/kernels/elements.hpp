// Loops whose dependences, bounds and temporaries a compiler must understand.
#pragma once

#include <cmath>

#include "state.hpp"

namespace vectorise {

using fl::Index;

// clang-format off
inline void plain_copy(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i]; }
inline void plain_scale(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.k * s.a[i]; }
inline void plain_add(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] + s.b[i]; }
inline void plain_subtract(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] - s.b[i]; }
inline void plain_multiply(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] * s.b[i]; }
inline void plain_triad(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] + s.k * s.b[i]; }
inline void plain_axpy(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] += s.k * s.a[i]; }
inline void plain_multiply_add(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] * s.b[i] + s.c[i]; }
inline void plain_polynomial(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = (s.a[i] * s.k + s.b[i]) * s.k + s.c[i]; }
inline void plain_square(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] * s.a[i]; }
inline void plain_negate(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = -s.a[i]; }
inline void plain_average(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = 0.5 * (s.a[i] + s.b[i]); }
inline void plain_fill(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.k; }
inline void plain_ramp(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = static_cast<double>(i); }
inline void plain_temporary(State& s, Index) { double t; for (Index i = 0; i < s.n; ++i) { t = s.a[i] + s.b[i]; s.x[i] = t * t; } }
inline void plain_two_results(State& s, Index) { for (Index i = 0; i < s.n; ++i) { s.y[i] = s.a[i] + s.b[i]; s.x[i] = s.y[i] * s.c[i]; } }
inline void plain_weighted(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] * static_cast<double>(i); }

inline void reroll_unrolled_2(State& s, Index) {
  Index i = 0;
  for (; i + 2 <= s.n; i += 2) { s.x[i] = s.k * s.a[i]; s.x[i + 1] = s.k * s.a[i + 1]; }
  for (; i < s.n; ++i) s.x[i] = s.k * s.a[i];
}
inline void reroll_unrolled_5(State& s, Index) {
  Index i = 0;
  for (; i + 5 <= s.n; i += 5) {
    s.x[i] += s.k * s.a[i];
    s.x[i + 1] += s.k * s.a[i + 1];
    s.x[i + 2] += s.k * s.a[i + 2];
    s.x[i + 3] += s.k * s.a[i + 3];
    s.x[i + 4] += s.k * s.a[i + 4];
  }
  for (; i < s.n; ++i) s.x[i] += s.k * s.a[i];
}

inline void dependence_shift_down(State& s, Index) { for (Index i = 0; i < s.n - 1; ++i) s.x[i] = s.a[i + 1]; }
inline void dependence_shift_up(State& s, Index) { for (Index i = 1; i < s.n; ++i) s.x[i] = s.a[i - 1]; }
inline void dependence_anti(State& s, Index) { for (Index i = 0; i < s.n - 1; ++i) s.x[i] = s.x[i + 1] + s.a[i]; }
inline void dependence_anti_far(State& s, Index) { for (Index i = 0; i < s.n - 4; ++i) s.x[i] = s.x[i + 4] + s.a[i]; }
inline void dependence_anti_down(State& s, Index) { for (Index i = s.n - 1; i > 0; --i) s.x[i] = s.x[i - 1] + s.a[i]; }
inline void dependence_reverse(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[s.n - 1 - i]; }
inline void dependence_reverse_add(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[s.n - 1 - i] + s.b[i]; }
inline void dependence_crossing(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.x[s.n - 1 - i] + s.a[i]; }
inline void dependence_middle(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.x[s.n / 2] + s.a[i]; }
inline void dependence_first(State& s, Index) { for (Index i = 1; i < s.n; ++i) s.x[i] = s.x[0] + s.a[i]; }

inline void recurrence_first(State& s, Index) { for (Index i = 1; i < s.n; ++i) s.x[i] = s.x[i - 1] + s.a[i]; }
inline void recurrence_signed(State& s, Index) { for (Index i = 1; i < s.n; ++i) s.x[i] = s.d[i] * s.x[i - 1] + s.a[i]; }
inline void recurrence_second(State& s, Index) { for (Index i = 2; i < s.n; ++i) s.x[i] = s.d[i] * s.x[i - 2] + s.a[i]; }
inline void recurrence_4(State& s, Index) { for (Index i = 4; i < s.n; ++i) s.x[i] = s.x[i - 4] + s.a[i]; }
inline void recurrence_16(State& s, Index) { for (Index i = 16; i < s.n; ++i) s.x[i] = s.x[i - 16] + s.a[i]; }
inline void recurrence_down(State& s, Index) { for (Index i = s.n - 2; i >= 0; --i) s.x[i] = s.x[i + 1] + s.a[i]; }

inline void symbolic_ahead(State& s, Index) { for (Index i = 0; i < s.n - s.m; ++i) s.x[i] = s.x[i + s.m] + s.a[i]; }
inline void symbolic_behind(State& s, Index) { for (Index i = s.m; i < s.n; ++i) s.x[i] = s.x[i - s.m] + s.a[i]; }
inline void symbolic_stride(State& s, Index) { const Index t = s.stride; for (Index i = 0; i < s.n; i += t) s.x[i] = s.a[i] + s.k; }
inline void symbolic_halves(State& s, Index) { const Index h = s.n / 2; for (Index i = 0; i < h; ++i) s.x[i] = s.x[i + h] + s.a[i]; }
inline void symbolic_pointers(State& s, Index) {
  const double *p = s.a.data(), *end = p + s.n; double* q = s.x.data(); while (p != end) *q++ = *p++ * s.k;
}
inline void symbolic_lagged(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (i >= s.m) s.x[i] = s.a[i - s.m]; else s.x[i] = s.b[i]; }

inline void overlay_same(State& s, Index) { double *y = s.x.data(), *x = y; for (Index i = 0; i < s.n; ++i) x[i] = y[i] + s.a[i]; }
inline void overlay_ahead(State& s, Index) { double *x = s.x.data(), *y = x + 1; for (Index i = 0; i < s.n - 1; ++i) x[i] = s.k * y[i]; }
inline void overlay_behind_5(State& s, Index) { double *x = s.x.data(), *y = x + 5; for (Index i = 0; i < s.n - 5; ++i) y[i] = x[i] + s.a[i]; }
inline void overlay_rows(State& s, Index) { double *x = s.x.data(), *y = x + s.m; for (Index i = 0; i < s.m; ++i) y[i] = x[i] + s.a[i]; }

inline void distribute_reversed(State& s, Index) { for (Index i = 1; i < s.n; ++i) { s.x[i] = s.y[i - 1] * s.c[i]; s.y[i] = s.a[i] + s.b[i]; } }
inline void distribute_recurrence(State& s, Index) { for (Index i = 1; i < s.n; ++i) { s.y[i] = s.y[i - 1] + s.a[i]; s.x[i] = s.b[i] * s.c[i]; } }
inline void distribute_sum(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) { s.x[i] = s.a[i] * s.b[i]; t += s.a[i]; } s.x[0] = t; }

inline void reorder_statements(State& s, Index) { for (Index i = 1; i < s.n - 1; ++i) { s.x[i] = s.y[i - 1] + s.a[i]; s.y[i] -= s.b[i]; } }

inline void split_node(State& s, Index) { for (Index i = 0; i < s.n - 1; ++i) { s.y[i] = s.x[i + 1]; s.x[i] = s.a[i] + s.y[i]; } }

inline void expand_carried(State& s, Index) { double t = s.a[s.n - 1]; for (Index i = 0; i < s.n; ++i) { s.x[i] = s.a[i] + t; t = s.a[i]; } }
inline void expand_carried_2(State& s, Index) {
  double t = s.a[s.n - 1], u = s.a[s.n - 2];
  for (Index i = 0; i < s.n; ++i) { s.x[i] = s.a[i] + t + u; u = t; t = s.a[i]; }
}
inline void expand_swap(State& s, Index) { for (Index i = 0; i < s.n; ++i) { const double t = s.x[i]; s.x[i] = s.y[i]; s.y[i] = t; } }
inline void expand_pair(State& s, Index) {
  double t, u; for (Index i = 0; i < s.n; ++i) { t = s.a[i] + s.b[i]; u = s.a[i] - s.b[i]; s.x[i] = t * u; }
}
inline void expand_conditional(State& s, Index) {
  double t; for (Index i = 0; i < s.n; ++i) { if (s.a[i] > 0) t = s.b[i]; else t = s.c[i]; s.x[i] = t + s.k; }
}
inline void expand_last(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) { t = s.k * s.a[i]; s.x[i] = t; } s.x[0] = t; }
inline void expand_array(State& s, Index) {
  Index i = 0; for (; i + 4 <= s.n; i += 4) { double t[4]; for (int j = 0; j < 4; ++j) t[j] = s.a[i + j] + s.b[i + j]; for (int j = 0; j < 4; ++j) s.x[i + j] = t[j] * t[j]; }
  for (; i < s.n; ++i) { const double t = s.a[i] + s.b[i]; s.x[i] = t * t; }
}

inline void induction_product(State& s, Index) { Index j = 0; for (Index i = 0; i < s.n; ++i) { j += 2; s.x[i] = s.a[i] * static_cast<double>(j); } }
inline void induction_square(State& s, Index) { Index j = 0; for (Index i = 0; i < s.n; ++i) { j += i; s.x[i] = static_cast<double>(j); } }
inline void induction_two(State& s, Index) {
  Index j = 0, k = s.n; for (Index i = 0; i < s.n; ++i) { j += 2; s.x[i] = static_cast<double>(j - k); --k; }
}
inline void induction_backwards(State& s, Index) { Index j = s.n - 1; for (Index i = 0; i < s.n; ++i) { s.x[i] = s.a[j] + s.k; --j; } }
inline void induction_real(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) { t += s.k; s.x[i] = t; } }
// clang-format on

}  // namespace vectorise
