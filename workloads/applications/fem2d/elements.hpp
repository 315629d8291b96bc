// Quadratic elements one by one: stiffness matrix, load and errors, from coordinates and quadrature. What the stencils of kernels.hpp
// are checked against, and what the assembled variants are built from.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "grid.hpp"

namespace fem2d {

struct Node {
  fl::Index i, j;  // in the block's finest grid
};

// The vertices, then the middles of the edges 01, 12, 20.
using Element = std::array<Node, 6>;
using Matrix6 = std::array<std::array<double, 6>, 6>;

struct Point {
  double x, y;
};

// Both triangles of every square of two cells, the diagonal from (1,0) to (0,1).
template <class Visit>
void each_element(const Grid& g, Visit visit) {
  const auto whole = [](Node a, Node b, Node c) {
    const auto middle = [](Node p, Node q) { return Node{(p.i + q.i) / 2, (p.j + q.j) / 2}; };
    return Element{a, b, c, middle(a, b), middle(b, c), middle(c, a)};
  };
  for (fl::Index j = 0; j < g.ny; j += 2)
    for (fl::Index i = 0; i < g.nx; i += 2) {
      visit(whole({i, j}, {i + 2, j}, {i, j + 2}));
      visit(whole({i + 2, j + 2}, {i, j + 2}, {i + 2, j}));
    }
}

// The gradients of the barycentric coordinates, and the area.
struct Shape {
  std::array<Point, 3> gradient;
  double area;

  explicit Shape(const std::array<Point, 3>& p) {
    const double twice = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[2].x - p[0].x) * (p[1].y - p[0].y);
    area = twice / 2;
    for (std::size_t k = 0; k < 3; ++k) {
      const Point &a = p[(k + 1) % 3], &b = p[(k + 2) % 3];
      gradient[k] = {(a.y - b.y) / twice, (b.x - a.x) / twice};
    }
  }

  static std::array<double, 6> values(const std::array<double, 3>& l) {
    return {l[0] * (2 * l[0] - 1), l[1] * (2 * l[1] - 1), l[2] * (2 * l[2] - 1), 4 * l[0] * l[1], 4 * l[1] * l[2], 4 * l[2] * l[0]};
  }

  std::array<Point, 6> gradients(const std::array<double, 3>& l) const {
    std::array<Point, 6> all;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t m = (k + 1) % 3;
      const double a = 4 * l[k] - 1;
      all[k] = {a * gradient[k].x, a * gradient[k].y};
      all[k + 3] = {4 * (l[k] * gradient[m].x + l[m] * gradient[k].x), 4 * (l[k] * gradient[m].y + l[m] * gradient[k].y)};
    }
    return all;
  }
};

// The middles of the edges integrate quadratic polynomials exactly.
inline Matrix6 stiffness(const Shape& shape) {
  Matrix6 matrix{};
  for (std::size_t k = 0; k < 3; ++k) {
    std::array<double, 3> l{};
    l[k] = l[(k + 1) % 3] = 0.5;
    const auto gradients = shape.gradients(l);
    for (std::size_t a = 0; a < 6; ++a)
      for (std::size_t b = 0; b < 6; ++b)
        matrix[a][b] += shape.area / 3 * (gradients[a].x * gradients[b].x + gradients[a].y * gradients[b].y);
  }
  return matrix;
}

// Visits 36 points of a triangle with their weights: six Gauss points a side of a square that collapses into it.
template <class Visit>
void each_point(double area, Visit visit) {
  constexpr double node[3] = {0.2386191860831969, 0.6612093864662645, 0.9324695142031521};
  constexpr double weight[3] = {0.4679139345726910, 0.3607615730481386, 0.1713244923791704};
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 6; ++b) {
      const double u = 0.5 * (1 + (a % 2 != 0 ? -1 : 1) * node[a / 2]), v = 0.5 * (1 + (b % 2 != 0 ? -1 : 1) * node[b / 2]);
      const double w = 0.5 * area * weight[a / 2] * weight[b / 2] * (1 - u);
      visit(std::array<double, 3>{1 - u - (1 - u) * v, u, (1 - u) * v}, w);
    }
}

// The manufactured solution of g = 1.
struct Manufactured {
  static double pi() { return std::numbers::pi; }
  static double u(Point p) { return p.y + std::cos(pi() * p.x) * std::sin(pi() * p.y); }
  static Point gradient(Point p) {
    return {-pi() * std::sin(pi() * p.x) * std::sin(pi() * p.y), 1 + pi() * std::cos(pi() * p.x) * std::cos(pi() * p.y)};
  }
  static double f(Point p) { return 2 * pi() * pi() * std::cos(pi() * p.x) * std::sin(pi() * p.y); }
};

// Where the nodes of a block lie in the unit square.
struct Place {
  const Block& block;
  double side;  // of a cell of the finest grid

  Place(const Block& b, fl::Index level) : block(b), side(1.0 / static_cast<double>(cells(level + 1))) {}
  Point of(const Node& n) const { return {static_cast<double>(block.i0 + n.i) * side, static_cast<double>(block.j0 + n.j) * side}; }
  std::array<Point, 3> corners(const Element& e) const { return {of(e[0]), of(e[1]), of(e[2])}; }
};

inline Point at(const std::array<Point, 3>& corners, const std::array<double, 3>& l) {
  return {l[0] * corners[0].x + l[1] * corners[1].x + l[2] * corners[2].x, l[0] * corners[0].y + l[1] * corners[1].y + l[2] * corners[2].y};
}

// The load of f for g = 1, of the block's own elements.
inline void load_vector(Grid& load, const Block& block, fl::Index level) {
  load.clear();
  const Place place(block, level);
  each_element(load, [&](const Element& e) {
    const auto corners = place.corners(e);
    each_point(Shape(corners).area, [&](const std::array<double, 3>& l, double w) {
      const double f = w * Manufactured::f(at(corners, l));
      const auto values = Shape::values(l);
      for (std::size_t a = 0; a < 6; ++a) load.at(e[a].i, e[a].j) += f * values[a];
    });
  });
}

}  // namespace fem2d
