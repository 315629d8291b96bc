// The inputs as functions of a cell's place in the whole grid, and what of them changes from step to step.
#pragma once

#include "state.hpp"

namespace cfd_solver {

// Return the factor of b in a step, and A_P of the cell that changes.
inline double factor(Index iteration) { return fl::step_factor(iteration); }
inline double diagonal(double unchanged, Index iteration) { return unchanged * (1 + factor(iteration) / 64); }

inline Point place_of(Index number, const Point& extents) {
  return {number / (extents[1] * extents[2]), number / extents[2] % extents[1], number % extents[2]};
}

// A_P of a cell of the whole grid, where this rank has it.
inline void put_diagonal(State& s, Index number, Index iteration) {
  const Point x = place_of(number, s.block.domain.extents);
  if (!s.block.owned.contains(x)) return;
  const double unchanged = cfd::coefficients(s.params.equation(), s.block.domain.extents, x)[cfd::P];
  s.system.a[cfd::P][s.block.local(x)] = iteration < 0 ? unchanged : diagonal(unchanged, iteration);
}

// Cells that must not be read contain NaN, so that a wrong read shows.
inline void fill_matrix(State& s) {
  for (Field& field : s.system.a) fl::poison(field.data(), field.layout().elements);
  fl::poison(s.system.b.data(), s.system.b.layout().elements);
  grid::each_cell(s.block.cells(), [&](const Point& x) {
    const cfd::Coefficients a = cfd::coefficients(s.params.equation(), s.block.domain.extents, s.block.global(x));
    for (std::size_t place = cfd::P; place <= cfd::T; ++place) s.system.a[place][x] = a[place];
  });
}

// b times `scale`, and x = 0. Halo cells that a neighbour has are not numbers until it sends them.
inline void restore(State& s, double scale) {
  fl::poison(s.x.data(), s.x.layout().elements);
  const grid::Box<3> inside = {{}, s.block.domain.extents};
  grid::each_cell(s.x.layout().with_halo(), [&](const Point& x) {
    const Point global = grid::plus<3>(x, s.block.owned.lower);
    if (!inside.contains(global) || s.block.cells().contains(x)) s.x[x] = 0;
  });
  grid::each_cell(s.block.cells(), [&](const Point& x) { s.system.b[x] = scale * cfd::source(s.block.number(s.block.global(x))); });
}

}  // namespace cfd_solver
