// The loops of the variants that have them all.
#pragma once

#include "dozen.hpp"

namespace dozen {

// clang-format off
inline void copy(State& s, fl::Index) { for (fl::Index i = 0; i < s.n; ++i) s.y[i] = s.a[i]; }
inline void scale(State& s, fl::Index) { for (fl::Index i = 0; i < s.n; ++i) s.y[i] = 3 * s.a[i]; }
inline void add(State& s, fl::Index) { for (fl::Index i = 0; i < s.n; ++i) s.y[i] = s.a[i] + s.b[i]; }
inline void triad(State& s, fl::Index) { for (fl::Index i = 0; i < s.n; ++i) s.y[i] = s.a[i] + 3 * s.b[i]; }
inline void product(State& s, fl::Index) { for (fl::Index i = 0; i < s.n; ++i) s.y[i] = s.a[i] * s.b[i]; }
inline void reverse(State& s, fl::Index) { for (fl::Index i = 0; i < s.n; ++i) s.y[i] = s.a[s.n - 1 - i]; }
inline void difference(State& s, fl::Index) { s.y[0] = s.a[0]; for (fl::Index i = 1; i < s.n; ++i) s.y[i] = s.a[i] - s.a[i - 1]; }
inline void positive(State& s, fl::Index) { for (fl::Index i = 0; i < s.n; ++i) s.y[i] = s.a[i] > 0 ? s.a[i] : 0; }
inline void prefix(State& s, fl::Index) { double sum = 0; for (fl::Index i = 0; i < s.n; ++i) s.y[i] = sum += s.a[i]; }
inline void sum(State& s, fl::Index) { double sum = 0; for (fl::Index i = 0; i < s.n; ++i) sum += s.a[i]; s.y[0] = sum; }
inline void dot(State& s, fl::Index) { double sum = 0; for (fl::Index i = 0; i < s.n; ++i) sum += s.a[i] * s.b[i]; s.y[0] = sum; }
inline void norm(State& s, fl::Index) { double sum = 0; for (fl::Index i = 0; i < s.n; ++i) sum += s.a[i] * s.a[i]; s.y[0] = sum; }
// clang-format on

}  // namespace dozen
