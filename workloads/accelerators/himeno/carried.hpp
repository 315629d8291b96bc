// A row of a tile that a cache holds, where not memory but loads hold a core: a vector and its two neighbours along k stay in
// registers, and neighbours one point away are made of these.
//
// Of the 31 loads of a vector ten begin one number beside a vector's place and cross a line each. They are p(k +- 1) itself and the
// differences d = p(j+1) - p(j-1) and e = p(i+1) - p(i-1), one point before and one after: with them a vector takes 21 loads, none of
// which crosses a line, and six moves between registers. Against the benchmark's order this changes (x - y - z + w) to (x - y) - (z - w).
#pragma once

#include "interleaved.hpp"

namespace himeno::inline FL_ROLE {

template <int... lane>
[[gnu::always_inline]] inline Vector shifted(const Vector& low, const Vector& high, std::integer_sequence<int, lane...>) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(low, high, lane...);
#else
  return Vector{(lane < width ? low[lane] : high[lane - width])...};
#endif
}
template <int first, int... lane>
constexpr auto lanes_from(std::integer_sequence<int, lane...>) {
  return std::integer_sequence<int, (first + lane)...>();
}

// A vector of points with those before and after it.
struct Carried {
  Vector before, here, after;

  [[gnu::always_inline]] Vector up() const {  // of the points k + 1
    return shifted(here, after, lanes_from<1>(std::make_integer_sequence<int, width>()));
  }
  [[gnu::always_inline]] Vector down() const {  // of the points k - 1
    return shifted(before, here, lanes_from<width - 1>(std::make_integer_sequence<int, width>()));
  }
  [[gnu::always_inline]] void advance(const Vector& next) { before = here, here = after, after = next; }
};

// What a row asks for while it computes: the same points of the next plane, which the tile's next step reads, so many elements on.
struct Coming {
  bool wanted;
  Index coefficients, p;
};

[[gnu::always_inline]] inline double carried_row(const Interleaved& lines, const Row& row, Coming coming) {
  constexpr Index n = Interleaved::points;
  const Streams at(row);
  const float *const p = at.p[1][1], *const front = at.p[2][1], *const back = at.p[0][1], *const right = at.p[1][2],
                     *const left = at.p[1][0];
  const auto load = [](const float* from) __attribute__((always_inline)) { return fl::simd::load<Vector>(from); };
  // Points outside of what a row and its padding hold: only the nearest one counts.
  const auto one = [](float value) __attribute__((always_inline)) { return Vector{} + value; };
  Carried here{one(p[-1]), load(p), Vector{}};
  Carried d{one(right[-1] - left[-1]), load(right) - load(left), Vector{}};
  Carried e{one(front[-1] - back[-1]), load(front) - load(back), Vector{}};
  const float* first = lines.at(row.at);
  const auto ss_at = [&](Index k) __attribute__((always_inline)) {
    const float* from = first + Interleaved::offset(k);
    if (coming.wanted) {
      for (Index m = 0; m < Interleaved::arrays; ++m) ask_for(from + coming.coefficients * Interleaved::arrays + m * n);
      ask_for(at.in.wrk1 + k + coming.coefficients);
      ask_for(front + k + coming.p);
      ask_for(row.next + k + coming.p);
    }
    const Index after = k + width;
    if (after < row.count) {
      here.after = load(p + after), d.after = load(right + after) - load(left + after), e.after = load(front + after) - load(back + after);
    } else {
      here.after = one(p[after]), d.after = one(right[after] - left[after]), e.after = one(front[after] - back[after]);
    }
    const auto of = [&](Index m) __attribute__((always_inline)) { return load(from + m * n); };
    const Vector s0 = of(0) * load(front + k) + of(1) * load(right + k) + of(2) * here.up() +
                      of(4) * (load(at.p[2][2] + k) - load(at.p[2][0] + k) - load(at.p[0][2] + k) + load(at.p[0][0] + k)) +
                      of(5) * (d.up() - d.down()) + of(6) * (e.up() - e.down()) + of(7) * load(back + k) + of(8) * load(left + k) +
                      of(9) * here.down() + load(at.in.wrk1 + k);
    const Vector ss = (s0 * of(3) - here.here) * of(10);
    here.advance(here.after), d.advance(d.after), e.advance(e.after);
    return ss;
  };
  return by_vectors<Store::ordinary>(row, ss_at);
}

}  // namespace himeno::inline FL_ROLE
