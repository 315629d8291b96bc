// The points of an icosahedral grid and who has them. Two neighbouring triangles of the icosahedron make a rhombus: 5 touch the north pole, 5
// the south pole. Each has n x n points (i, j), 1 <= i <= n, 0 <= j < n; the poles are two more, 10 n^2 + 2 in all.
//
// In the plane of a rhombus i and j grow along two sides that meet at 60 degrees, at the north pole or, of southern ones, at their northern
// corner; so the neighbours of a point are (+-1, 0), (0, +-1), (+1, -1) and (-1, +1). The short diagonal from (n, 0) to (0, n) is the edge
// of the two triangles. A rhombus has the points of two of its sides; those of the others belong to its neighbours there.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

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
  Icosahedron(int g, int r) : n_(Number{1} << g), across_(Number{1} << r), side_(Number{1} << (g - r)), side_bits_(g - r) {}

  Number points() const { return 10 * n_ * n_ + 2; }
  Number regions() const { return 10 * across_ * across_; }
  Number side() const { return side_; }  // points along a side of a region

  // Regions are counted rhombus by rhombus, and within it as it is cut: quarter by quarter, and each quarter again. So regions that follow each
  // other lie together. The poles belong to a region that touches them.
  Number region(const Point& p) const {
    if (p.rhombus == north_pole) return 0;
    if (p.rhombus == south_pole) return region({5, n_, n_ - 1});
    return p.rhombus * across_ * across_ + spread((p.i - 1) >> side_bits_) + 2 * spread(p.j >> side_bits_);
  }

  // The neighbours of a point: six, of the twelve corners of the icosahedron five.
  template <class Visit>
  void each_neighbour(const Point& p, Visit visit) const {
    if (p.rhombus == north_pole) {
      for (int k = 0; k < 5; ++k) visit(Point{k, 1, 0});
      return;
    }
    if (p.rhombus == south_pole) {
      for (int k = 5; k < 10; ++k) visit(Point{k, n_, n_ - 1});
      return;
    }
    for (const auto& [di, dj] : std::array<std::array<int, 2>, 6>{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, -1}, {-1, 1}}}) {
      if (p.i == n_ && p.j == 0 && di == 1 && dj == -1) continue;  // a corner of the icosahedron lacks one
      visit(owned({p.rhombus, p.i + di, p.j + dj}));
    }
  }

  // Calls with (a point of the region, a neighbour of it beyond, the region of that), for all of them.
  template <class Visit>
  void each_beyond(Number region, Visit visit) const {
    const Point first = corner(region);
    const auto from = [&](const Point& p) {
      each_neighbour(p, [&](const Point& q) {
        const bool within =
            q.rhombus == first.rhombus && q.i >= first.i && q.i < first.i + side_ && q.j >= first.j && q.j < first.j + side_;
        if (within) return;
        if (const Number other = this->region(q); other != region) visit(p, q, other);  // it may be the pole that the region has
      });
    };
    for (Number k = 0; k < side_; ++k)
      for (Number l = 0; l < side_; l += (k == 0 || k == side_ - 1 || side_ == 1) ? 1 : side_ - 1)
        from({first.rhombus, first.i + l, first.j + k});
    for (const Point& pole : {Point{north_pole, 0, 0}, Point{south_pole, 0, 0}})
      if (this->region(pole) == region) from(pole);
  }

 private:
  // The point of a region with the least i and j, except for a pole.
  Point corner(Number region) const {
    const Number within = region % (across_ * across_);
    return {static_cast<int>(region / (across_ * across_)), gathered(within) * side_ + 1, gathered(within / 2) * side_};
  }
  // Bit k of 32 becomes bit 2 k (halves move apart, then their halves), and back.
  static Number spread(Number x) {
    for (const auto& [by, kept] : std::array<std::pair<int, Number>, 5>{{{16, 0x0000FFFF0000FFFF},
                                                                         {8, 0x00FF00FF00FF00FF},
                                                                         {4, 0x0F0F0F0F0F0F0F0F},
                                                                         {2, 0x3333333333333333},
                                                                         {1, 0x5555555555555555}}})
      x = (x | x << by) & kept;
    return x;
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
  int side_bits_;
};

}  // namespace fl::patterns
