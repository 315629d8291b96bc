// Points and boxes of cells. A box is half-open, lower <= p < upper; rows run along the last dimension.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "firstlight/role.hpp"
#include "firstlight/split.hpp"

namespace fl::grid::inline FL_ROLE {

template <std::size_t D>
using Point = std::array<Index, D>;

template <std::size_t D>
constexpr Point<D> all(Index value) {
  Point<D> p{};
  for (Index& x : p) x = value;
  return p;
}

template <std::size_t D>
constexpr Point<D> plus(Point<D> a, const Point<D>& b) {
  for (std::size_t d = 0; d < D; ++d) a[d] += b[d];
  return a;
}
template <std::size_t D>
constexpr Point<D> minus(Point<D> a, const Point<D>& b) {
  for (std::size_t d = 0; d < D; ++d) a[d] -= b[d];
  return a;
}

// "4 x 3 x 2"
template <std::size_t D>
std::string words(const Point<D>& p) {
  std::string text;
  for (std::size_t d = 0; d < D; ++d) text += (d == 0 ? "" : " x ") + std::to_string(p[d]);
  return text;
}

template <std::size_t D>
struct Box {
  Point<D> lower{}, upper{};

  constexpr bool operator==(const Box&) const = default;
  constexpr Index size(std::size_t d) const { return upper[d] - lower[d]; }
  constexpr Point<D> sizes() const { return minus<D>(upper, lower); }
  constexpr bool empty() const {
    for (std::size_t d = 0; d < D; ++d)
      if (upper[d] <= lower[d]) return true;
    return false;
  }
  constexpr Index cells() const {
    if (empty()) return 0;
    Index n = 1;
    for (std::size_t d = 0; d < D; ++d) n *= size(d);
    return n;
  }
  constexpr bool contains(const Point<D>& p) const {
    for (std::size_t d = 0; d < D; ++d)
      if (p[d] < lower[d] || p[d] >= upper[d]) return false;
    return true;
  }
  constexpr Box shifted(const Point<D>& by) const { return {plus<D>(lower, by), plus<D>(upper, by)}; }
  // Wider by so many cells on either side; narrower where they are negative.
  constexpr Box grown(const Point<D>& by) const { return {minus<D>(lower, by), plus<D>(upper, by)}; }
};

template <std::size_t D>
constexpr Box<D> intersection(Box<D> a, const Box<D>& b) {
  for (std::size_t d = 0; d < D; ++d) {
    a.lower[d] = std::max(a.lower[d], b.lower[d]);
    a.upper[d] = std::min(a.upper[d], b.upper[d]);
  }
  return a;
}

// Disjoint boxes that hold what is in `box` and not in `without`; 2 D at most, those across slow dimensions (whole planes) first.
template <std::size_t D>
std::vector<Box<D>> difference(Box<D> box, Box<D> without) {
  std::vector<Box<D>> parts;
  if (box.empty()) return parts;
  without = intersection(box, without);
  if (without.empty()) return {box};
  for (std::size_t d = 0; d < D; ++d) {
    Box<D> below = box, above = box;
    below.upper[d] = without.lower[d];
    above.lower[d] = without.upper[d];
    if (!below.empty()) parts.push_back(below);
    if (!above.empty()) parts.push_back(above);
    box.lower[d] = without.lower[d];
    box.upper[d] = without.upper[d];
  }
  return parts;
}

// What thread `share` of `shares` works on: a slab across the first dimension that is long enough for all of them, the longest one
// where none is. The shares are disjoint and cover the box; some are empty where it is small. The same box and number of threads
// give the same slabs, so who first touches a field computes on what is near.
template <std::size_t D>
constexpr Box<D> share_of(Box<D> box, Index share, Index shares) {
  std::size_t cut = 0;
  for (std::size_t d = 1; d < D && box.size(cut) < shares; ++d)
    if (box.size(d) >= shares || box.size(d) > box.size(cut)) cut = d;
  if (box.empty()) return box;
  const Part mine = part(box.size(cut), shares, share);
  box.upper[cut] = box.lower[cut] + mine.end;
  box.lower[cut] += mine.begin;
  return box;
}

// visit(p, count) for every row of a box, in memory order: the cells p, ..., p + (count - 1) in the last dimension.
template <std::size_t D, class Visit>
constexpr void each_row(const Box<D>& box, Visit visit) {
  if (box.empty()) return;
  Point<D> p = box.lower;
  while (true) {
    visit(static_cast<const Point<D>&>(p), box.size(D - 1));
    std::size_t d = D - 1;
    while (d > 0 && ++p[d - 1] == box.upper[d - 1]) {
      p[d - 1] = box.lower[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

// visit(p) for every cell of a box, in memory order.
template <std::size_t D, class Visit>
constexpr void each_cell(const Box<D>& box, Visit visit) {
  each_row(box, [&](Point<D> p, Index count) {
    for (const Index end = p[D - 1] + count; p[D - 1] < end; ++p[D - 1]) visit(static_cast<const Point<D>&>(p));
  });
}

}  // namespace fl::grid::inline FL_ROLE
