// The inputs as functions of a point's place in the whole grid, and what of them changes from step to step.
#pragma once

#include "state.hpp"

namespace himeno {

// Returns a coefficient at inner point `number`, counted in memory order. Those of the general problem leave a sweep no room to make p
// grow.
inline float value(Problem problem, Coefficient which, Index number) {
  const bool general = problem == Problem::general;
  const double u = general ? fl::uniform(16 * static_cast<std::uint64_t>(number) + static_cast<std::uint64_t>(which)) : 0;
  switch (which) {
    case Coefficient::a3:
      return static_cast<float>((1 - 0.2 * std::fabs(u)) / 6);
    case Coefficient::b0:
    case Coefficient::b1:
    case Coefficient::b2:
      return static_cast<float>(0.2 * u);
    case Coefficient::wrk1:
      return static_cast<float>(0.2 * u);
    default:  // the other a, c and bnd
      return static_cast<float>(general ? 0.8 + 0.4 * u : 1);
  }
}

// p before the first sweep, walls included: of a point whose inner number is `x`, -1 or the extent on walls.
inline float start(Problem problem, const Point& extents, const Point& x) {
  if (problem == Problem::official) {
    const Index i = x[0] + 1, last = extents[0] + 1;
    return static_cast<float>(i * i) / static_cast<float>(last * last);
  }
  const Index number = ((x[0] + 1) * (extents[1] + 2) + x[1] + 1) * (extents[2] + 2) + x[2] + 1;
  return static_cast<float>(0.5 + fl::uniform(fl::hash(static_cast<std::uint64_t>(number))));
}

// Return the factor of p in a step, and the source at the place that changes.
inline float factor(Index iteration) { return static_cast<float>(fl::step_factor(iteration)); }
inline float source(Index number, Index iteration) { return ((number & 1) != 0 ? 0x1p-5f : -0x1p-5f) * factor(iteration); }

inline void fill(const State& s, Field& field, Coefficient which) {
  grid::each_row(s.block.cells(), [&](const Point& x, Index count) {
    float* row = &field[x];
    const auto first = static_cast<Index>(s.block.number(s.block.global(x)));
    if (s.params.problem == Problem::official)
      std::fill_n(row, count, value(Problem::official, which, first));
    else
      for (Index k = 0; k < count; ++k) row[k] = value(Problem::general, which, first + k);
  });
}

inline Point place_of(Index number, const Point& extents) {
  return {number / (extents[1] * extents[2]), number / extents[2] % extents[1], number % extents[2]};
}

// wrk1 at an inner point of the whole grid, where this rank has it.
inline void put_source(State& s, Index number, float value) {
  const Point x = place_of(number, s.block.domain.extents);
  if (s.block.owned.contains(x)) s.wrk1[s.block.local(x)] = value;
}

// p before the first sweep; halos that were never exchanged, and what a sweep has to write, are not numbers.
inline void restore(State& s, float scale) {
  const Point& extents = s.block.domain.extents;
  const auto set = [&](const Point& x, Index count, Field& field) {
    float* row = &field[x];
    const Point first = grid::plus<3>(x, s.block.owned.lower);
    for (Index k = 0; k < count; ++k) row[k] = scale * start(s.params.problem, extents, {first[0], first[1], first[2] + k});
  };
  const grid::Box<3> inside = {{}, extents};
  for (Field* field : {&s.p, &s.next}) {
    fl::poison(field->data(), field->layout().elements);
    grid::each_row(field->layout().with_halo(), [&](const Point& x, Index count) {
      const Point global = grid::plus<3>(x, s.block.owned.lower);
      const bool wall = global[0] < 0 || global[0] >= extents[0] || global[1] < 0 || global[1] >= extents[1];
      if (wall) return set(x, count, *field);
      for (const Index k : {Index{0}, count - 1})
        if (!inside.contains({global[0], global[1], global[2] + k})) set({x[0], x[1], x[2] + k}, 1, *field);
    });
  }
  grid::each_row(s.block.cells(), [&](const Point& x, Index count) { set(x, count, s.p); });
  if (s.upload) s.upload();
}

}  // namespace himeno
