// The chains of one thread in registers: twelve vectors of whatever width the target has, run to the end of a lap, then the next.
#pragma once

#include "peak.hpp"

#include "firstlight/simd.hpp"

namespace peak {

template <class T>
inline void run(Lanes<T>& lanes, double shift, fl::Index thread, fl::Index laps_to_run = laps) {
  using Vector = fl::simd::native<T>;
  constexpr int width = fl::simd::width<T>;
  constexpr int together = 12;
  const Vector a = lanes.a - Vector{}, b = lanes.b - Vector{};
  for (fl::Index group = 0; group < chains<T>; group += together * width) {
    const T* start = lanes.start.data() + thread * chains<T> + group;
    T* sum = lanes.sum.data() + thread * chains<T> + group;
    for (fl::Index i = 0; i < together * width; ++i) sum[i] = 0;
    for (fl::Index lap = 0; lap < laps_to_run; ++lap) {
      Vector x[together];
      const auto ahead_of_start = static_cast<T>(shift + ahead(lap));
      fl::simd::unroll<together>([&](auto k)
                                     __attribute__((always_inline)) { x[k] = fl::simd::load<Vector>(start + k * width) + ahead_of_start; });
      for (fl::Index m = 0; m < length; ++m)
        fl::simd::unroll<together>([&](auto k) __attribute__((always_inline)) { x[k] = x[k] * a + b; });
      fl::simd::unroll<together>([&](auto k) __attribute__((always_inline)) {
        fl::simd::store(sum + k * width, fl::simd::load<Vector>(sum + k * width) + x[k]);
      });
    }
  }
}

inline void run(State& s, fl::Index thread) {
  if (s.precision == 32)
    run(s.singles, s.shift, thread);
  else
    run(s.doubles, s.shift, thread);
}

}  // namespace peak
