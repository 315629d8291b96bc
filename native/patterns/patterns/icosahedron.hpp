// The points of an icosahedral grid and who has them. Two neighbouring triangles of the icosahedron make a rhombus: 5 touch the north pole, 5
// the south pole. Each has n x n points (i, j), 1 <= i <= n, 0 <= j < n; the poles are two more, 10 n^2 + 2 in all.
//
// In the plane of a rhombus i and j grow along two sides that meet at 60 degrees, at the north pole or, of southern ones, at their northern
// corner; so the neighbours of a point are (+-1, 0), (0, +-1), (+1, -1) and (-1, +1). The short diagonal from (n, 0) to (0, n) is the edge
// of the two triangles. A rhombus has the points of two of its sides; those of the others belong to its neighbours there.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fl::patterns {

class Icosahedron {
 public:
  using Number = std::int64_t;
  static constexpr int rhombi = 10, north_pole = 10, south_pole = 11;  // `rhombus` of a point

  struct Point {
    int rhombus = 0;
    Number i = 0, j = 0;  // 0, 0 of a pole
    friend auto operator<=>(const Point&, const Point&) = default;
  };

  // 2^g points along a side, in 2^r regions along a side, r <= g.
  Icosahedron(int g, int r) : n_(Number{1} << g), across_(Number{1} << r), side_(Number{1} << (g - r)) {}

  Number points() const { return 10 * n_ * n_ + 2; }
  Number regions() const { return 10 * across_ * across_; }
  Number side() const { return side_; }  // points along a side of a region

  // Regions are counted rhombus by rhombus, and within it as it is cut: quarter by quarter, and each quarter again. So regions that follow each
  // other lie together. The poles belong to a region that touches them.
  Number region(const Point& p) const {
    if (p.rhombus == north_pole) return 0;
    if (p.rhombus == south_pole) return region({5, n_, n_ - 1});
    return p.rhombus * across_ * across_ + spread((p.i - 1) / side_) + 2 * spread(p.j / side_);
  }

  // The neighbours of a point: six, of the twelve corners of the icosahedron five.
  std::vector<Point> neighbours(const Point& p) const {
    std::vector<Point> all;
    if (p.rhombus == north_pole)
      for (int k = 0; k < 5; ++k) all.push_back({k, 1, 0});
    else if (p.rhombus == south_pole)
      for (int k = 5; k < 10; ++k) all.push_back({k, n_, n_ - 1});
    else
      for (const auto& [di, dj] : std::array<std::array<int, 2>, 6>{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, -1}, {-1, 1}}}) {
        if (p.i == n_ && p.j == 0 && di == 1 && dj == -1) continue;  // a corner of the icosahedron lacks one
        all.push_back(owned({p.rhombus, p.i + di, p.j + dj}));
      }
    return all;
  }

  // The points of a region that lie on its rim, and the pole that it has.
  template <class Visit>
  void each_rim_point(Number region, Visit visit) const {
    const int rhombus = static_cast<int>(region / (across_ * across_));
    const Number within = region % (across_ * across_), i = gathered(within) * side_ + 1, j = gathered(within / 2) * side_;
    for (Number k = 0; k < side_; ++k)
      for (Number l = 0; l < side_; l += (k == 0 || k == side_ - 1 || side_ == 1) ? 1 : side_ - 1) visit(Point{rhombus, i + l, j + k});
    for (const Point& pole : {Point{north_pole, 0, 0}, Point{south_pole, 0, 0}})
      if (this->region(pole) == region) visit(pole);
  }

 private:
  // Bit k becomes bit 2 k, and back.
  static Number spread(Number x) {
    Number all = 0;
    for (int k = 0; x >> k != 0; ++k) all |= (x >> k & 1) << 2 * k;
    return all;
  }
  static Number gathered(Number x) {
    Number all = 0;
    for (int k = 0; x >> 2 * k != 0; ++k) all |= (x >> 2 * k & 1) << k;
    return all;
  }
  // A point one step beyond a rhombus, as the rhombus names it that has it.
  Point owned(const Point& p) const {
    const auto& [d, i, j] = p;
    const bool north = d < 5;
    const int east = north ? (d + 1) % 5 : 5 + (d + 1) % 5, west = north ? (d + 4) % 5 : 5 + (d + 4) % 5;  // of the same hemisphere
    if (north) {
      if (i == 0) return j == 0 ? Point{north_pole, 0, 0} : Point{east, j, 0};
      if (i > n_ && j >= 0) return {west + 5, 1, j};
      if (j < 0) return {west, 1, i - 1};
      if (j == n_) return {d + 5, i, 0};
      return p;
    }
    const int above = d - 5, above_east = (above + 1) % 5;
    if (j < 0) return {above, i, n_ - 1};
    if (i > n_) return {west, j + 1, n_ - 1};
    if (j == n_) return i == n_ ? Point{south_pole, 0, 0} : Point{east, n_, i};
    if (i == 0) return {above_east, n_, j};
    return p;
  }

  Number n_, across_, side_;
};

}  // namespace fl::patterns
