// The loops as a compiler meets them, in the order of their definitions.
#pragma once

#include <algorithm>
#include <cmath>

#include "firstlight/variant.hpp"
#include "loops.hpp"

namespace loops::inline FL_ROLE {

// clang-format off
inline void copy(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i]; }
inline void scale(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.k * s.a[i]; }
inline void add(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] + s.b[i]; }
inline void subtract(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] - s.b[i]; }
inline void multiply(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] * s.b[i]; }
inline void triad(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] + s.k * s.b[i]; }
inline void axpy(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] += s.k * s.a[i]; }
inline void multiply_add(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] * s.b[i] + s.c[i]; }
inline void polynomial(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = (s.a[i] * s.k + s.b[i]) * s.k + s.c[i]; }
inline void square(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] * s.a[i]; }
inline void negate(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = -s.a[i]; }
inline void average(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = 0.5 * (s.a[i] + s.b[i]); }
inline void fill(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.k; }
inline void ramp(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = static_cast<double>(i); }
inline void temporary(State& s, Index) { double t; for (Index i = 0; i < s.n; ++i) { t = s.a[i] + s.b[i]; s.x[i] = t * t; } }
inline void two_results(State& s, Index) { for (Index i = 0; i < s.n; ++i) { s.y[i] = s.a[i] + s.b[i]; s.x[i] = s.y[i] * s.c[i]; } }
inline void unrolled_2(State& s, Index) {
  Index i = 0;
  for (; i + 2 <= s.n; i += 2) { s.x[i] = s.k * s.a[i]; s.x[i + 1] = s.k * s.a[i + 1]; }
  for (; i < s.n; ++i) s.x[i] = s.k * s.a[i];
}
inline void unrolled_5(State& s, Index) {
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
inline void weighted(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] * static_cast<double>(i); }

inline void shift_down(State& s, Index) { for (Index i = 0; i < s.n - 1; ++i) s.x[i] = s.a[i + 1]; }
inline void shift_up(State& s, Index) { for (Index i = 1; i < s.n; ++i) s.x[i] = s.a[i - 1]; }
inline void anti(State& s, Index) { for (Index i = 0; i < s.n - 1; ++i) s.x[i] = s.x[i + 1] + s.a[i]; }
inline void anti_far(State& s, Index) { for (Index i = 0; i < s.n - 4; ++i) s.x[i] = s.x[i + 4] + s.a[i]; }
inline void recurrence(State& s, Index) { for (Index i = 1; i < s.n; ++i) s.x[i] = s.x[i - 1] + s.a[i]; }
inline void recurrence_signed(State& s, Index) { for (Index i = 1; i < s.n; ++i) s.x[i] = s.d[i] * s.x[i - 1] + s.a[i]; }
inline void recurrence_second(State& s, Index) { for (Index i = 2; i < s.n; ++i) s.x[i] = s.d[i] * s.x[i - 2] + s.a[i]; }
inline void recurrence_4(State& s, Index) { for (Index i = 4; i < s.n; ++i) s.x[i] = s.x[i - 4] + s.a[i]; }
inline void recurrence_16(State& s, Index) { for (Index i = 16; i < s.n; ++i) s.x[i] = s.x[i - 16] + s.a[i]; }
inline void recurrence_down(State& s, Index) { for (Index i = s.n - 2; i >= 0; --i) s.x[i] = s.x[i + 1] + s.a[i]; }
inline void anti_down(State& s, Index) { for (Index i = s.n - 1; i > 0; --i) s.x[i] = s.x[i - 1] + s.a[i]; }
inline void reverse(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[s.n - 1 - i]; }
inline void reverse_add(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[s.n - 1 - i] + s.b[i]; }
inline void crossing(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.x[s.n - 1 - i] + s.a[i]; }
inline void middle(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.x[s.n / 2] + s.a[i]; }
inline void first(State& s, Index) { for (Index i = 1; i < s.n; ++i) s.x[i] = s.x[0] + s.a[i]; }
inline void distribution(State& s, Index) { for (Index i = 1; i < s.n; ++i) { s.x[i] = s.y[i - 1] * s.c[i]; s.y[i] = s.a[i] + s.b[i]; } }
inline void reordering(State& s, Index) { for (Index i = 1; i < s.n - 1; ++i) { s.x[i] = s.y[i - 1] + s.a[i]; s.y[i] -= s.b[i]; } }
inline void splitting(State& s, Index) { for (Index i = 0; i < s.n - 1; ++i) { s.y[i] = s.x[i + 1]; s.x[i] = s.a[i] + s.y[i]; } }
inline void carried(State& s, Index) { double t = s.a[s.n - 1]; for (Index i = 0; i < s.n; ++i) { s.x[i] = s.a[i] + t; t = s.a[i]; } }
inline void carried_2(State& s, Index) {
  double t = s.a[s.n - 1], u = s.a[s.n - 2];
  for (Index i = 0; i < s.n; ++i) { s.x[i] = s.a[i] + t + u; u = t; t = s.a[i]; }
}
inline void induction(State& s, Index) { Index j = 0; for (Index i = 0; i < s.n; ++i) { j += 2; s.x[i] = s.a[i] * static_cast<double>(j); } }
inline void induction_square(State& s, Index) { Index j = 0; for (Index i = 0; i < s.n; ++i) { j += i; s.x[i] = static_cast<double>(j); } }

inline void positive(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] > 0 ? s.a[i] : 0; }
inline void masked(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (s.a[i] > 0) s.x[i] = s.b[i]; }
inline void masked_add(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (s.b[i] > 0) s.x[i] += s.a[i]; }
inline void either(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (s.a[i] > s.b[i]) s.x[i] = s.a[i] + s.c[i]; else s.x[i] = s.b[i] - s.c[i]; }
inline void clamp(State& s, Index) { for (Index i = 0; i < s.n; ++i) { const double t = s.a[i] < -2 ? -2 : s.a[i]; s.x[i] = t > 2 ? 2 : t; } }
inline void larger(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] > s.b[i] ? s.a[i] : s.b[i]; }
inline void smaller(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] < s.b[i] ? s.a[i] : s.b[i]; }
inline void absolute(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = std::fabs(s.a[i]); }
inline void sign(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = (s.a[i] > 0) - (s.a[i] < 0); }
inline void nested_if(State& s, Index) {
  for (Index i = 0; i < s.n; ++i)
    if (s.a[i] > 0) {
      if (s.b[i] > 0) s.x[i] = s.c[i];
      else s.x[i] = -s.c[i];
    }
}
inline void three_ways(State& s, Index) {
  for (Index i = 0; i < s.n; ++i) {
    if (s.a[i] < 0) s.x[i] = s.b[i] - 1;
    else if (s.a[i] > 0) s.x[i] = s.b[i] + 1;
    else s.x[i] = 0;
  }
}
inline void switch_4(State& s, Index) {
  for (Index i = 0; i < s.n; ++i)
    switch (i & 3) {
      case 0: s.x[i] = s.a[i]; break;
      case 1: s.x[i] = s.b[i]; break;
      case 2: s.x[i] = s.a[i] + s.b[i]; break;
      default: s.x[i] = s.a[i] - s.b[i];
    }
}
inline void jumps(State& s, Index) {
  for (Index i = 0; i < s.n; ++i) {
    s.x[i] = s.b[i];
    if (s.a[i] < 0) goto next;
    s.x[i] += s.k;
  next:;
  }
}
inline void continued(State& s, Index) { for (Index i = 0; i < s.n; ++i) { if (s.a[i] < 0) continue; s.x[i] = s.a[i] * s.b[i]; } }
inline void equal(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] == s.b[i]; }
inline void invariant_if(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (s.k > 5) s.x[i] = s.a[i] + s.b[i]; else s.x[i] = s.a[i] - s.b[i]; }
inline void halves(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (i < s.n / 2) s.x[i] = s.a[i]; else s.x[i] = s.b[i]; }
inline void peeled(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (i == 0) s.x[i] = s.k; else s.x[i] = s.a[i - 1]; }

inline void sum(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[i]; s.x[0] = t; }
inline void sum_down(State& s, Index) { double t = 0; for (Index i = s.n - 1; i >= 0; --i) t += s.a[i]; s.x[0] = t; }
inline void sum_unrolled(State& s, Index) {
  double t = 0;
  Index i = 0;
  for (; i + 4 <= s.n; i += 4) t += s.a[i] + s.a[i + 1] + s.a[i + 2] + s.a[i + 3];
  for (; i < s.n; ++i) t += s.a[i];
  s.x[0] = t;
}
inline void sum_every_third(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; i += 3) t += s.a[i]; s.x[0] = t; }
inline void dot(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[i] * s.b[i]; s.x[0] = t; }
inline void norm(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[i] * s.a[i]; s.x[0] = t; }
inline void sum_absolute(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += std::fabs(s.a[i]); s.x[0] = t; }
inline void distance(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += (s.a[i] - s.b[i]) * (s.a[i] - s.b[i]); s.x[0] = t; }
inline void sum_of_three(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[i] * s.b[i] * s.c[i]; s.x[0] = t; }
inline void two_sums(State& s, Index) { double t = 0, u = 0; for (Index i = 0; i < s.n; ++i) { t += s.a[i]; u += s.b[i]; } s.x[0] = t + s.k * u; }
inline void alternating(State& s, Index) { double t = 0, sign = 1; for (Index i = 0; i < s.n; ++i) { t += sign * s.a[i]; sign = -sign; } s.x[0] = t; }
inline void moment(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += static_cast<double>(i) * s.a[i]; s.x[0] = t; }
inline void sum_positive(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) if (s.a[i] > 0) t += s.a[i]; s.x[0] = t; }
inline void count_positive(State& s, Index) { Index t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[i] > 0; s.x[0] = static_cast<double>(t); }
inline void product_of_signs(State& s, Index) { double t = 1; for (Index i = 0; i < s.n; ++i) t *= s.d[i]; s.x[0] = t; }
inline void largest(State& s, Index) { double t = s.a[0]; for (Index i = 1; i < s.n; ++i) t = s.a[i] > t ? s.a[i] : t; s.x[0] = t; }
inline void place_of_smallest(State& s, Index) { Index t = 0; for (Index i = 1; i < s.n; ++i) if (s.a[i] < s.a[t]) t = i; s.x[0] = static_cast<double>(t); }
inline void first_negative(State& s, Index) { Index i = 0; for (; i < s.n; ++i) if (s.a[i] < 0) break; s.x[0] = static_cast<double>(i); }
inline void last_negative(State& s, Index) { Index t = -1; for (Index i = 0; i < s.n; ++i) if (s.a[i] < 0) t = i; s.x[0] = static_cast<double>(t); }

inline void stride_2(State& s, Index) { for (Index i = 0; i < s.n; i += 2) s.x[i] = s.a[i]; }
inline void stride_7(State& s, Index) { for (Index i = 0; i < s.n; i += 7) s.x[i] = s.a[i]; }
inline void interleave(State& s, Index) { for (Index i = 0; i < s.n / 2; ++i) { s.x[2 * i] = s.a[i]; s.x[2 * i + 1] = s.b[i]; } }
inline void pairs(State& s, Index) { for (Index i = 0; i < s.n / 2; ++i) s.x[i] = s.a[2 * i] + s.a[2 * i + 1]; }
inline void rotate(State& s, Index) { Index j = 5; for (Index i = 0; i < s.n; ++i) { s.x[i] = s.a[j]; if (++j == s.n) j = 0; } }
inline void gather(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[s.q[i]]; }
inline void gather_add(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.b[i] + s.a[s.p[i]]; }
inline void scatter(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[s.p[i]] = s.a[i]; }
inline void scatter_add(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[s.p[i]] += s.a[i]; }
inline void histogram(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[s.q[i]] += s.a[i]; }
inline void pack(State& s, Index) { Index j = 0; for (Index i = 0; i < s.n; ++i) if (s.a[i] > 0) s.x[j++] = s.a[i]; }
inline void unpack(State& s, Index) { Index j = 0; for (Index i = 0; i < s.n; ++i) if (s.a[i] > 0) s.x[i] = s.b[j++]; }

inline void transpose(State& s, Index) { for (Index i = 0; i < s.m; ++i) for (Index j = 0; j < s.m; ++j) s.x[i * s.m + j] = s.a[j * s.m + i]; }
inline void outer_product(State& s, Index) { for (Index i = 0; i < s.m; ++i) for (Index j = 0; j < s.m; ++j) s.x[i * s.m + j] = s.a[i] * s.a[j]; }
inline void by_columns(State& s, Index) { for (Index j = 0; j < s.m; ++j) for (Index i = 0; i < s.m; ++i) s.x[i * s.m + j] = s.a[i * s.m + j] + s.k; }
inline void rows_recur(State& s, Index) {
  for (Index i = 1; i < s.m; ++i) for (Index j = 0; j < s.m; ++j) s.x[i * s.m + j] = s.x[(i - 1) * s.m + j] + s.a[i * s.m + j];
}
inline void wavefront(State& s, Index) {
  for (Index i = 1; i < s.m; ++i)
    for (Index j = 1; j < s.m; ++j) {
      const double above = s.x[(i - 1) * s.m + j], before = s.x[i * s.m + j - 1];
      s.x[i * s.m + j] = (above > before ? above : before) + s.a[i * s.m + j];
    }
}
inline void lower_triangle(State& s, Index) { for (Index i = 0; i < s.m; ++i) for (Index j = 0; j <= i; ++j) s.x[i * s.m + j] = s.a[i * s.m + j]; }
inline void five_points(State& s, Index) {
  for (Index i = 1; i < s.m - 1; ++i)
    for (Index j = 1; j < s.m - 1; ++j) {
      const double* a = &s.a[i * s.m + j];
      s.x[i * s.m + j] = a[-s.m] + a[-1] + a[1] + a[s.m] - 4 * a[0];
    }
}
inline void row_sums(State& s, Index) {
  for (Index i = 0; i < s.m; ++i) { double t = 0; for (Index j = 0; j < s.m; ++j) t += s.a[i * s.m + j]; s.x[i] = t; }
}
inline void matrix_vector(State& s, Index) {
  for (Index i = 0; i < s.m; ++i) s.x[i] = 0;
  for (Index j = 0; j < s.m; ++j) for (Index i = 0; i < s.m; ++i) s.x[i] += s.a[j * s.m + i] * s.b[j];
}
// clang-format on

inline constexpr fl::Kernel table[] = {
    FL_KERNEL(loops, copy),
    FL_KERNEL(loops, scale),
    FL_KERNEL(loops, add),
    FL_KERNEL(loops, subtract),
    FL_KERNEL(loops, multiply),
    FL_KERNEL(loops, triad),
    FL_KERNEL(loops, axpy),
    FL_KERNEL(loops, multiply_add),
    FL_KERNEL(loops, polynomial),
    FL_KERNEL(loops, square),
    FL_KERNEL(loops, negate),
    FL_KERNEL(loops, average),
    FL_KERNEL(loops, fill),
    FL_KERNEL(loops, ramp),
    FL_KERNEL(loops, temporary),
    FL_KERNEL(loops, two_results),
    FL_KERNEL(loops, unrolled_2),
    FL_KERNEL(loops, unrolled_5),
    FL_KERNEL(loops, weighted),
    FL_KERNEL(loops, shift_down),
    FL_KERNEL(loops, shift_up),
    FL_KERNEL(loops, anti),
    FL_KERNEL(loops, anti_far),
    FL_KERNEL(loops, recurrence),
    FL_KERNEL(loops, recurrence_signed),
    FL_KERNEL(loops, recurrence_second),
    FL_KERNEL(loops, recurrence_4),
    FL_KERNEL(loops, recurrence_16),
    FL_KERNEL(loops, recurrence_down),
    FL_KERNEL(loops, anti_down),
    FL_KERNEL(loops, reverse),
    FL_KERNEL(loops, reverse_add),
    FL_KERNEL(loops, crossing),
    FL_KERNEL(loops, middle),
    FL_KERNEL(loops, first),
    FL_KERNEL(loops, distribution),
    FL_KERNEL(loops, reordering),
    FL_KERNEL(loops, splitting),
    FL_KERNEL(loops, carried),
    FL_KERNEL(loops, carried_2),
    FL_KERNEL(loops, induction),
    FL_KERNEL(loops, induction_square),
    FL_KERNEL(loops, positive),
    FL_KERNEL(loops, masked),
    FL_KERNEL(loops, masked_add),
    FL_KERNEL(loops, either),
    FL_KERNEL(loops, clamp),
    FL_KERNEL(loops, larger),
    FL_KERNEL(loops, smaller),
    FL_KERNEL(loops, absolute),
    FL_KERNEL(loops, sign),
    FL_KERNEL(loops, nested_if),
    FL_KERNEL(loops, three_ways),
    FL_KERNEL(loops, switch_4),
    FL_KERNEL(loops, jumps),
    FL_KERNEL(loops, continued),
    FL_KERNEL(loops, equal),
    FL_KERNEL(loops, invariant_if),
    FL_KERNEL(loops, halves),
    FL_KERNEL(loops, peeled),
    FL_KERNEL(loops, sum),
    FL_KERNEL(loops, sum_down),
    FL_KERNEL(loops, sum_unrolled),
    FL_KERNEL(loops, sum_every_third),
    FL_KERNEL(loops, dot),
    FL_KERNEL(loops, norm),
    FL_KERNEL(loops, sum_absolute),
    FL_KERNEL(loops, distance),
    FL_KERNEL(loops, sum_of_three),
    FL_KERNEL(loops, two_sums),
    FL_KERNEL(loops, alternating),
    FL_KERNEL(loops, moment),
    FL_KERNEL(loops, sum_positive),
    FL_KERNEL(loops, count_positive),
    FL_KERNEL(loops, product_of_signs),
    FL_KERNEL(loops, largest),
    FL_KERNEL(loops, place_of_smallest),
    FL_KERNEL(loops, first_negative),
    FL_KERNEL(loops, last_negative),
    FL_KERNEL(loops, stride_2),
    FL_KERNEL(loops, stride_7),
    FL_KERNEL(loops, interleave),
    FL_KERNEL(loops, pairs),
    FL_KERNEL(loops, rotate),
    FL_KERNEL(loops, gather),
    FL_KERNEL(loops, gather_add),
    FL_KERNEL(loops, scatter),
    FL_KERNEL(loops, scatter_add),
    FL_KERNEL(loops, histogram),
    FL_KERNEL(loops, pack),
    FL_KERNEL(loops, unpack),
    FL_KERNEL(loops, transpose),
    FL_KERNEL(loops, outer_product),
    FL_KERNEL(loops, by_columns),
    FL_KERNEL(loops, rows_recur),
    FL_KERNEL(loops, wavefront),
    FL_KERNEL(loops, lower_triangle),
    FL_KERNEL(loops, five_points),
    FL_KERNEL(loops, row_sums),
    FL_KERNEL(loops, matrix_vector),
};

}  // namespace loops::inline FL_ROLE
