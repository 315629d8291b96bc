// What a run begins with, as functions of a cell's place in the whole grid: small velocities and pressures of no order, so that each cell and
// face counts from the first iteration on.
#pragma once

#include "state.hpp"

namespace cfd {

// Returns the speed of the run in a step. It is a power of two, by which all results scale without rounding, so that shares are the same
// bits in each step. Its cubes and fourth powers are numbers of this precision, too.
inline double speed_of(const Params& p, Index iteration) {
  const int powers = p.bits == 32 ? 16 : 64;
  return std::ldexp(1.0,
                    static_cast<int>(fl::hash(static_cast<std::uint64_t>(iteration)) % static_cast<std::uint64_t>(powers)) - powers / 2);
}

inline constexpr double disorder = 0.1;  // of the speed

inline double start_velocity(const State& s, const Point& cell, std::size_t d) {
  if (s.params.cells()[d] == 1) return 0;
  const double there = d == 2 ? start_along(s.params, s.box.middle(cell)) : 0;
  return s.speed * (there + disorder * fl::uniform(4 * s.block.number(cell) + d));
}
inline double start_pressure(std::uint64_t number, double speed) { return disorder * speed * speed * fl::uniform(4 * number + 3); }

// Scalars begin near what enters, as which those that do not change stay; of the enthalpy it is the heat that is not in the fuel, so that no
// cell is colder than nothing.
inline double start_scalar(const Params& p, std::uint64_t number, std::size_t q, double speed) {
  constexpr std::uint64_t apart = std::uint64_t{1} << 60;  // from the numbers of velocities and pressures
  constexpr Scalars most{0.1, 0.1, 0.5, 3, 0.5};           // so that somewhere it is fuel, oxygen or burnt gas that there is least of
  const double off = p.solves(q) ? most[q] * fl::uniform(apart + scalars * number + q) : 0;
  if (q == enthalpy) return 1 + off + p.heat * start_scalar(p, number, fuel, speed);
  return reference(p)[q] * scales(speed)[q] * (1 + off);
}

// Through the upper face along d of the cell at x; x[d] = -1 for the first face.
inline double start_flux(const State& s, const Point& x, std::size_t d) {
  const Point &cells = s.block.domain.extents, above = [&] {
    Point next = x;
    ++next[d];
    return next;
  }();
  const auto velocity = [&](const Point& cell) { return start_velocity(s, cell, d); };
  const bool first = x[d] < 0, last = x[d] + 1 == cells[d];
  if (!first && !last) return 0.5 * s.box.area[d] * (velocity(x) + velocity(above));
  const Point& beside = first ? above : x;
  const Boundary at = boundary(s.params, s.box, cells, beside, d, first ? -1 : 1);
  if (at.edge == Edge::outlet) return s.box.area[d] * velocity(beside);
  return s.box.area[d] * s.speed * at.velocity[d];
}

// Halo cells that a neighbour has are not numbers until it sends them; those of the pressure are kept up by both.
inline void restore(State& s) {
  for (auto* fields : {&s.velocity, &s.flux})
    for (Field& field : *fields) fl::poison(field.data(), field.layout().elements);
  fl::poison(s.pressure.data(), s.pressure.layout().elements);
  const grid::Box<3> inside = {{}, s.block.domain.extents};
  grid::each_cell(s.pressure.layout().with_halo(), [&](const Point& x) {
    const Point at = grid::plus<3>(x, s.block.owned.lower);
    if (inside.contains(at)) s.pressure[x] = start_pressure(s.block.number(at), s.speed);
  });
  each_scalar(s.params, [&](std::size_t q) { fl::poison(s.scalar[q].data(), s.scalar[q].layout().elements); });
  grid::each_cell(s.block.cells(), [&](const Point& x) {
    const Point at = s.block.global(x);
    for (std::size_t d = 0; d < 3; ++d) s.velocity[d][x] = start_velocity(s, at, d);
    each_scalar(s.params, [&](std::size_t q) { s.scalar[q][x] = start_scalar(s.params, s.block.number(at), q, s.speed); });
  });
  for (std::size_t d = 0; d < 3; ++d) {
    grid::Box<3> faces = s.block.cells();
    --faces.lower[d];
    grid::each_cell(faces, [&](const Point& x) { s.flux[d][x] = start_flux(s, grid::plus<3>(x, s.block.owned.lower), d); });
  }
}

// How many of a cell's faces are walls.
inline int walls_of(const State& s, const Point& cell) {
  const Point& cells = s.block.domain.extents;
  int walls = 0;
  for (std::size_t d = 0; d < 3; ++d)
    for (const Index step : {-1, 1}) {
      const bool outside = cell[d] + step < 0 || cell[d] + step == cells[d];
      if (outside && boundary(s.params, s.box, cells, cell, d, step).edge == Edge::wall) ++walls;
    }
  return walls;
}

inline std::vector<Rim> rims_of(const State& s) {
  std::vector<Rim> rims;
  const Point& cells = s.block.domain.extents;
  for (std::size_t d = 0; d < 3; ++d)
    for (const Index step : {-1, 1}) {
      if (s.block.has_neighbour(d, step)) continue;
      Rim rim{d, step, s.block.cells(), {}};
      (step < 0 ? rim.cells.upper[d] : rim.cells.lower[d]) = step < 0 ? 1 : rim.cells.upper[d] - 1;
      grid::each_cell(rim.cells, [&](const Point& x) {
        rim.boundaries.push_back(boundary(s.params, s.box, cells, s.block.global(x), d, step));
        rim.boundaries.back().wall_share = 1.0 / std::max(walls_of(s, s.block.global(x)), 1);
      });
      rims.push_back(std::move(rim));
    }
  return rims;
}

}  // namespace cfd
