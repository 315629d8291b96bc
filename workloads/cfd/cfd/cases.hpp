// The flows: what box they fill, what happens at its sides, what is known of them. Dimensions are numbered as those of the grid: 0 from
// bottom to top, 1 from south to north, 2 from west to east; velocity d points along dimension d. Lengths and speeds are 1 where a
// Reynolds number is told of.
#pragma once

#include "../system.hpp"

namespace cfd::inline FL_ROLE {

using Vector = std::array<double, 3>;

enum class Case { cavity, kovasznay, duct };  // in the order of their names, "cavity|kovasznay|duct"

enum class Edge {
  fixed,   // the velocity is given: walls, inlets, exact solutions
  slip,    // nothing flows through and nothing drags
  outlet,  // the pressure is 0, and what leaves does not change any more
};
struct Boundary {
  Edge edge = Edge::slip;
  Vector velocity{};  // where it is fixed; the flow's speed is a factor of it
};

// A box of equal cells.
struct Geometry {
  Vector lower{}, length{}, spacing{}, area{};  // area: of the face of a cell with this normal
  double volume = 0;                            // of a cell

  Geometry() = default;
  Geometry(Case flow, const Point& cells) {
    switch (flow) {
      case Case::cavity:  // one layer of cells is a slice of a cavity without ends
        length = {cells[0] == 1 ? 1 / static_cast<double>(cells[2]) : 1, 1, 1};
        break;
      case Case::kovasznay:
        lower = {0, -0.5, -0.5};
        length = {1, 1, 1.5};
        break;
      case Case::duct:
        length = {1, 1, static_cast<double>(cells[2]) / static_cast<double>(cells[1])};
        break;
    }
    volume = 1;
    for (std::size_t d = 0; d < 3; ++d) volume *= spacing[d] = length[d] / static_cast<double>(cells[d]);
    for (std::size_t d = 0; d < 3; ++d) area[d] = volume / spacing[d];
  }
  // The middle of a cell of the whole grid, in units of length.
  Vector middle(const Point& cell) const {
    Vector x{};
    for (std::size_t d = 0; d < 3; ++d) x[d] = lower[d] + (static_cast<double>(cell[d]) + 0.5) * spacing[d];
    return x;
  }
  // And of its face on the lower (step -1) or upper (1) side along d.
  Vector middle(const Point& cell, std::size_t d, Index step) const {
    Vector x = middle(cell);
    x[d] += 0.5 * static_cast<double>(step) * spacing[d];
    return x;
  }
  double inflow_area() const { return length[0] * length[1]; }
};

// The wake of a row of cylinders: L. I. G. Kovasznay, Proc. Camb. Phil. Soc. 44 (1948) 58.
inline Vector kovasznay(double reynolds, const Vector& x) {
  const double lambda = reynolds / 2 - std::sqrt(reynolds * reynolds / 4 + 4 * M_PI * M_PI), grown = std::exp(lambda * x[2]);
  return {0, lambda / (2 * M_PI) * grown * std::sin(2 * M_PI * x[1]), 1 - grown * std::cos(2 * M_PI * x[1])};
}

// Beyond the face of `cell` on that side, which is one of the box.
inline Boundary boundary(Case flow, double reynolds, const Geometry& box, const Point& cells, const Point& cell, std::size_t d,
                         Index step) {
  const bool slice = d == 0 && cells[0] == 1;
  switch (flow) {
    case Case::cavity:
      if (slice) return {};
      return {Edge::fixed, {0, 0, d == 1 && step > 0 ? 1.0 : 0.0}};
    case Case::kovasznay:
      if (d == 0) return {};
      return {Edge::fixed, kovasznay(reynolds, box.middle(cell, d, step))};
    case Case::duct:
      if (slice) return {};
      if (d == 2 && step > 0) return {Edge::outlet, {}};
      return {Edge::fixed, {0, 0, d == 2 ? 1.0 : 0.0}};
  }
  return {};
}

}  // namespace cfd::inline FL_ROLE
