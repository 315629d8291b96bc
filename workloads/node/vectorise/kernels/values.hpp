// Loops with conditions, reductions and searches, and loops that only strict arithmetic gets right.
#pragma once

#include <cmath>

#include "state.hpp"

namespace vectorise {

using fl::Index;

// clang-format off
inline void rounding_nearest(State& s, Index) {
  constexpr double big = 0x1.8p52; for (Index i = 0; i < s.n; ++i) s.x[i] = (s.a[i] * 0.25 + 0.125 + big) - big;
}
inline void rounding_residue(State& s, Index) {
  constexpr double big = 0x1.8p52; for (Index i = 0; i < s.n; ++i) { const double t = s.a[i] * 0.25 + 0.125; s.x[i] = t - ((t + big) - big); }
}
inline void rounding_absorbed(State& s, Index) { constexpr double big = 0x1p60; for (Index i = 0; i < s.n; ++i) s.x[i] = (s.a[i] + big) - big; }
inline void rounding_not_a_number(State& s, Index) {
  for (Index i = 0; i < s.n; ++i) { const double t = s.a[i] / s.a[i]; s.x[i] = t == t ? t : s.k; }
}
inline void rounding_infinite(State& s, Index) {
  for (Index i = 0; i < s.n; ++i) { const double t = 1 / s.a[i]; s.x[i] = std::fabs(t) > 0x1.fffffffffffffp1023 ? s.k : t; }
}
inline void rounding_negative_zero(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = std::copysign(1.0, s.a[i] * 0.0); }
inline void rounding_sevenths(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] / 7; }
inline void rounding_root(State& s, Index) { for (Index i = 0; i < s.n; ++i) { const double t = std::sqrt(std::fabs(s.a[i])); s.x[i] = t * t; } }

inline void control_positive(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] > 0 ? s.a[i] : 0; }
inline void control_masked(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (s.a[i] > 0) s.x[i] = s.b[i]; }
inline void control_masked_add(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (s.b[i] > 0) s.x[i] += s.a[i]; }
inline void control_either(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (s.a[i] > s.b[i]) s.x[i] = s.a[i] + s.c[i]; else s.x[i] = s.b[i] - s.c[i]; }
inline void control_clamp(State& s, Index) { for (Index i = 0; i < s.n; ++i) { const double t = s.a[i] < -2 ? -2 : s.a[i]; s.x[i] = t > 2 ? 2 : t; } }
inline void control_larger(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] > s.b[i] ? s.a[i] : s.b[i]; }
inline void control_smaller(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] < s.b[i] ? s.a[i] : s.b[i]; }
inline void control_absolute(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = std::fabs(s.a[i]); }
inline void control_sign(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = (s.a[i] > 0) - (s.a[i] < 0); }
inline void control_nested_if(State& s, Index) {
  for (Index i = 0; i < s.n; ++i)
    if (s.a[i] > 0) {
      if (s.b[i] > 0) s.x[i] = s.c[i];
      else s.x[i] = -s.c[i];
    }
}
inline void control_three_ways(State& s, Index) {
  for (Index i = 0; i < s.n; ++i) {
    if (s.a[i] < 0) s.x[i] = s.b[i] - 1;
    else if (s.a[i] > 0) s.x[i] = s.b[i] + 1;
    else s.x[i] = 0;
  }
}
inline void control_switch_4(State& s, Index) {
  for (Index i = 0; i < s.n; ++i)
    switch (i & 3) {
      case 0: s.x[i] = s.a[i]; break;
      case 1: s.x[i] = s.b[i]; break;
      case 2: s.x[i] = s.a[i] + s.b[i]; break;
      default: s.x[i] = s.a[i] - s.b[i];
    }
}
inline void control_jumps(State& s, Index) {
  for (Index i = 0; i < s.n; ++i) {
    s.x[i] = s.b[i];
    if (s.a[i] < 0) goto next;
    s.x[i] += s.k;
  next:;
  }
}
inline void control_continued(State& s, Index) { for (Index i = 0; i < s.n; ++i) { if (s.a[i] < 0) continue; s.x[i] = s.a[i] * s.b[i]; } }
inline void control_equal(State& s, Index) { for (Index i = 0; i < s.n; ++i) s.x[i] = s.a[i] == s.b[i]; }
inline void control_invariant_if(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (s.k > 5) s.x[i] = s.a[i] + s.b[i]; else s.x[i] = s.a[i] - s.b[i]; }
inline void control_halves(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (i < s.n / 2) s.x[i] = s.a[i]; else s.x[i] = s.b[i]; }
inline void control_guarded_division(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (s.b[i] != 0) s.x[i] = s.a[i] / s.b[i]; else s.x[i] = 0; }
inline void control_ladder(State& s, Index) {
  for (Index i = 0; i < s.n; ++i) {
    if (s.a[i] < -4) s.x[i] = s.b[i];
    else if (s.a[i] < 0) s.x[i] = s.c[i];
    else if (s.a[i] < 4) s.x[i] = s.b[i] + s.c[i];
    else s.x[i] = s.b[i] - s.c[i];
  }
}
inline void control_called(State& s, Index) {
  const auto f = [](double u, double v) { if (u > v) return u; return v + 1; }; for (Index i = 0; i < s.n; ++i) s.x[i] = f(s.a[i], s.b[i]);
}

inline void peel_peeled(State& s, Index) { for (Index i = 0; i < s.n; ++i) if (i == 0) s.x[i] = s.k; else s.x[i] = s.a[i - 1]; }

inline void reduction_sum(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[i]; s.x[0] = t; }
inline void reduction_sum_down(State& s, Index) { double t = 0; for (Index i = s.n - 1; i >= 0; --i) t += s.a[i]; s.x[0] = t; }
inline void reduction_sum_unrolled(State& s, Index) {
  double t = 0;
  Index i = 0;
  for (; i + 4 <= s.n; i += 4) t += s.a[i] + s.a[i + 1] + s.a[i + 2] + s.a[i + 3];
  for (; i < s.n; ++i) t += s.a[i];
  s.x[0] = t;
}
inline void reduction_sum_every_third(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; i += 3) t += s.a[i]; s.x[0] = t; }
inline void reduction_dot(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[i] * s.b[i]; s.x[0] = t; }
inline void reduction_norm(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[i] * s.a[i]; s.x[0] = t; }
inline void reduction_sum_absolute(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += std::fabs(s.a[i]); s.x[0] = t; }
inline void reduction_distance(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += (s.a[i] - s.b[i]) * (s.a[i] - s.b[i]); s.x[0] = t; }
inline void reduction_sum_of_three(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[i] * s.b[i] * s.c[i]; s.x[0] = t; }
inline void reduction_two_sums(State& s, Index) { double t = 0, u = 0; for (Index i = 0; i < s.n; ++i) { t += s.a[i]; u += s.b[i]; } s.x[0] = t + s.k * u; }
inline void reduction_alternating(State& s, Index) { double t = 0, sign = 1; for (Index i = 0; i < s.n; ++i) { t += sign * s.a[i]; sign = -sign; } s.x[0] = t; }
inline void reduction_moment(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) t += static_cast<double>(i) * s.a[i]; s.x[0] = t; }
inline void reduction_sum_positive(State& s, Index) { double t = 0; for (Index i = 0; i < s.n; ++i) if (s.a[i] > 0) t += s.a[i]; s.x[0] = t; }
inline void reduction_count_positive(State& s, Index) { Index t = 0; for (Index i = 0; i < s.n; ++i) t += s.a[i] > 0; s.x[0] = static_cast<double>(t); }
inline void reduction_product_of_signs(State& s, Index) { double t = 1; for (Index i = 0; i < s.n; ++i) t *= s.d[i]; s.x[0] = t; }
inline void reduction_largest(State& s, Index) { double t = s.a[0]; for (Index i = 1; i < s.n; ++i) t = s.a[i] > t ? s.a[i] : t; s.x[0] = t; }
inline void reduction_even_odd(State& s, Index) {
  double t = 0, u = 0; Index i = 0; for (; i + 2 <= s.n; i += 2) { t += s.a[i]; u += s.a[i + 1]; } for (; i < s.n; ++i) t += s.a[i]; s.x[0] = t - u;
}
inline void reduction_whole_numbers(State& s, Index) { Index t = 0; for (Index i = 0; i < s.n; ++i) t += s.p[i]; s.x[0] = static_cast<double>(t); }
inline void reduction_bits(State& s, Index) { int t = 0; for (Index i = 0; i < s.n; ++i) t ^= s.p[i]; s.x[0] = t; }

inline void search_place_of_smallest(State& s, Index) { Index t = 0; for (Index i = 1; i < s.n; ++i) if (s.a[i] < s.a[t]) t = i; s.x[0] = static_cast<double>(t); }
inline void search_first_negative(State& s, Index) { Index i = 0; for (; i < s.n; ++i) if (s.a[i] < 0) break; s.x[0] = static_cast<double>(i); }
inline void search_last_negative(State& s, Index) { Index t = -1; for (Index i = 0; i < s.n; ++i) if (s.a[i] < 0) t = i; s.x[0] = static_cast<double>(t); }
inline void search_first_equal(State& s, Index) { Index i = 0; for (; i < s.n; ++i) if (s.a[i] == s.b[i]) break; s.x[0] = static_cast<double>(i); }
inline void search_count_equal(State& s, Index) {
  Index t = 0; for (Index i = 0; i < s.n; ++i) if (s.a[i] == s.b[i]) ++t; s.x[0] = static_cast<double>(t);
}
inline void search_place_of_magnitude(State& s, Index) {
  Index t = 0; double u = std::fabs(s.a[0]); for (Index i = 1; i < s.n; ++i) if (std::fabs(s.a[i]) > u) { u = std::fabs(s.a[i]); t = i; } s.x[0] = static_cast<double>(t);
}
inline void search_largest_gap(State& s, Index) {
  double t = s.a[0] - s.b[0]; for (Index i = 1; i < s.n; ++i) if (s.a[i] - s.b[i] > t) t = s.a[i] - s.b[i]; s.x[0] = t;
}
// clang-format on

}  // namespace vectorise
