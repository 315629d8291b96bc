// Linear systems of finite volumes on a structured grid: seven coefficients a cell, as a transported quantity has them.
//
//   A_P x_P + A_W x_W + A_E x_E + A_S x_S + A_N x_N + A_B x_B + A_T x_T = b
//
// A cell is at (k, j, i): bottom to top, south to north, west to east; i is contiguous in memory. Values beyond the walls are 0 at half
// a cell's distance (Dirichlet), so a wall has no coefficient of its own and doubles what its face adds to A_P.
#pragma once

#include <array>
#include <cmath>

#include "firstlight/grid/blocks.hpp"
#include "firstlight/grid/field.hpp"

namespace cfd {

namespace grid = fl::grid;
using fl::Index;
using Point = grid::Point<3>;
template <class Real>
using FieldOf = grid::Field<Real, 3>;
using Field = FieldOf<double>;

enum Place : std::size_t { P, W, E, S, N, B, T };
using Coefficients = std::array<double, 7>;  // of one cell, by Place

// The dimension of a face's normal and the side it is on.
struct Side {
  std::size_t d;
  Index step;
};
inline constexpr Side side_of(std::size_t place) {
  constexpr Side sides[] = {{0, 0}, {2, -1}, {2, 1}, {1, -1}, {1, 1}, {0, -1}, {0, 1}};
  return sides[place];
}

// For the lower and upper side of a block along each dimension: the ratio of the value half a cell beyond the side to the value within. -1:
// the value is 0 at the side; 1: it does not change across.
using Mirror = std::array<std::array<double, 2>, 3>;
inline constexpr Mirror zero_at_sides{{{-1, -1}, {-1, -1}, {-1, -1}}};

// What multigrid needs of the whole grid in addition to the matrix: its sides, and how strongly neighbours along each dimension are coupled in
// the mean, of which only ratios count.
using Coupling = std::array<double, 3>;
struct Shape {
  Mirror mirror = zero_at_sides;
  Coupling coupling{1, 1, 1};
};

// In the order of their names, "poisson|diffusion|transport".
enum class Problem {
  poisson,    // all conductances 1
  diffusion,  // they differ from face to face: symmetric
  transport,  // and something flows through each face, upwind: not symmetric
};
inline bool symmetric(Problem problem) { return problem != Problem::transport; }

// Cells are `slender` times as long along j as along k, and as often along i as along j.
struct Equation {
  Problem problem = Problem::poisson;
  double slender = 1;

  // Returns the area of a face over the distance of its cells; it is 1 along k.
  Coupling coupling() const { return {1, std::pow(slender, -2.0), std::pow(slender, -4.0)}; }
};

// What a face lets through by diffusion, and what flows through it towards larger coordinates.
struct Face {
  double conductance = 1, flow = 0;
};

// The face on the upper side of the cell at `low` along dimension d; low[d] = -1 for the first face.
inline Face face(const Equation& of, const Point& extents, const Point& low, std::size_t d) {
  const double conductance = of.coupling()[d];
  if (of.problem == Problem::poisson) return {conductance};
  std::uint64_t number = 0;
  for (std::size_t e = 0; e < 3; ++e) number = number * static_cast<std::uint64_t>(extents[e] + 1) + static_cast<std::uint64_t>(low[e] + 1);
  const std::uint64_t first = 8 * (4 * number + d);  // apart from the numbers of sources, whatever the extents
  return {conductance * (1 + 0.8 * fl::uniform(first)), of.problem == Problem::transport ? 2 * fl::uniform(first + 1) : 0};
}

// The row of the matrix that belongs to the cell at x of a grid of these extents.
inline Coefficients coefficients(const Equation& of, const Point& extents, const Point& x) {
  Coefficients a{};
  for (std::size_t place = W; place <= T; ++place) {
    const auto [d, step] = side_of(place);
    Point low = x;
    if (step < 0) --low[d];
    const Face f = face(of, extents, low, d);
    const bool wall = x[d] + step < 0 || x[d] + step >= extents[d];
    const double inwards = f.conductance + std::max(-static_cast<double>(step) * f.flow, 0.0);
    if (!wall) a[place] = -inwards;
    a[P] += wall ? 2 * f.conductance : inwards;
  }
  return a;
}

// b of the cell with this number, counted in memory order.
inline double source(std::uint64_t number) { return fl::uniform(number); }

// One rank's part. All fields have one layout: the same element number is the same cell in each.
template <class Real>
struct SystemOf {
  std::array<FieldOf<Real>, 7> a;
  FieldOf<Real> b;
};
using System = SystemOf<double>;

// Addresses of cell (0, 0, 0) of a block, and the elements from a cell to its neighbours.
template <class Real>
struct RowsOf {
  std::array<const Real*, 7> a;
  const Real* b;
  Index south = 0, bottom = 0;  // from a cell to the next one north, to the next one above

  explicit RowsOf(const SystemOf<Real>& system) : b(system.b.view().origin) {
    for (std::size_t place = P; place <= T; ++place) a[place] = system.a[place].view().origin;
    south = system.b.layout().stride[1];
    bottom = system.b.layout().stride[0];
  }
  Index at(Index k, Index j) const { return k * bottom + j * south; }
};
using Rows = RowsOf<double>;

// b - A x of the cell at element c.
template <class Real>
[[gnu::always_inline]] inline Real residual(const RowsOf<Real>& m, const Real* x, Index c) {
  return m.b[c] - m.a[P][c] * x[c] - m.a[W][c] * x[c - 1] - m.a[E][c] * x[c + 1] - m.a[S][c] * x[c - m.south] - m.a[N][c] * x[c + m.south] -
         m.a[B][c] * x[c - m.bottom] - m.a[T][c] * x[c + m.bottom];
}

}  // namespace cfd
