// A grid of cells cut into blocks, one a rank; where neighbours are, and between which cells of theirs values travel.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "firstlight/grid/box.hpp"

namespace fl::grid::inline FL_ROLE {

// Ends the program with one line, for conditions that refuse() would have reported.
inline void require(bool condition, const std::string& message) {
  if (condition) return;
  std::fprintf(stderr, "grid: %s\n", message.c_str());
  std::abort();
}

// What is to be cut.
template <std::size_t D>
struct Domain {
  static_assert(D >= 1 && D <= 4);
  Point<D> extents{};                                 // cells
  std::array<bool, D> periodic{};                     // what is beyond the end is the beginning; else nothing does
  Point<D> processes{};                               // along each dimension; 0: chosen
  Point<D> halo = all<D>(0);                          // cells, of the field whose halo is widest
  std::array<double, D> face_costs = all_alike<D>();  // of a cell of faces with this normal, where process counts are chosen
};

// Halo cells come from next neighbours only: along a dimension in which there are any, a block is as thick as the halo is wide.
template <std::size_t D>
constexpr bool fits(const Domain<D>& domain, std::size_t d, Index count) {
  const Index thinnest = domain.extents[d] / count;
  return thinnest >= 1 && ((count == 1 && !domain.periodic[d]) || thinnest >= domain.halo[d]);
}

template <std::size_t D>
std::optional<ProcessGrid<D>> process_grid(const Domain<D>& domain, Index ranks) {
  return fl::process_grid<D>(
      ranks, domain.extents, domain.processes, [&](std::size_t d, Index, Index count) { return fits(domain, d, count); },
      domain.face_costs);
}

// Empty, or the sentence why so many ranks cannot share the domain.
template <std::size_t D>
std::string refuse(const Domain<D>& domain, Index ranks) {
  for (std::size_t d = 0; d < D; ++d)
    if (domain.extents[d] < 1 || domain.halo[d] < 0 || domain.processes[d] < 0)
      return "a grid needs extents of at least 1, and halos and process counts of at least 0; extents " + words<D>(domain.extents) +
             ", halo " + words<D>(domain.halo) + ", processes " + words<D>(domain.processes) + " given";
  if (process_grid(domain, ranks)) return "";
  Point<D> thinnest{};
  for (std::size_t d = 0; d < D; ++d) thinnest[d] = std::max<Index>(1, domain.halo[d]);
  const bool chosen = domain.processes == Point<D>{};
  return std::string("no process grid ") + (chosen ? "" : "like " + words<D>(domain.processes) + " (0: chosen) ") + "of " +
         std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + " leaves blocks of " + words<D>(thinnest) +
         " cells at least (1, and the halo) of a grid of " + words<D>(domain.extents) + "; use fewer ranks or a larger grid";
}

// How far neighbours are taken into account: the number of dimensions in which they stand elsewhere.
// A stencil along the axes needs faces only; one with mixed derivatives in two dimensions edges, too.
enum class Reach { faces = 1, edges = 2, corners = 4 };

// The number of dimensions in which a neighbour is elsewhere.
template <std::size_t D>
constexpr int dimensions_apart(const Point<D>& offset) {
  int count = 0;
  for (const Index step : offset) count += step != 0 ? 1 : 0;
  return count;
}

template <std::size_t D>
constexpr bool within(Reach reach, const Point<D>& offset) {
  const int apart = dimensions_apart<D>(offset);
  return apart >= 1 && apart <= static_cast<int>(reach);
}

// Offsets to neighbours, each -1, 0 or 1 in every dimension, by number; `opposite` ones have numbers that add up to directions - 1.
template <std::size_t D>
inline constexpr int directions = D == 1   ? 3
                                  : D == 2 ? 9
                                  : D == 3 ? 27
                                           : 81;
template <std::size_t D>
constexpr Point<D> offset_of(int direction) {
  Point<D> offset{};
  for (std::size_t d = D; d-- > 0; direction /= 3) offset[d] = direction % 3 - 1;
  return offset;
}
template <std::size_t D>
constexpr int opposite(int direction) {
  return directions<D> - 1 - direction;
}

// One rank's part of a domain. Local coordinates begin at 0 at its first own cell; halo cells have negative ones, or such beyond size.
template <std::size_t D>
struct Block {
  static constexpr int none = ProcessGrid<D>::none;

  Domain<D> domain;
  ProcessGrid<D> ranks;
  int rank = 0;
  Point<D> place{};  // of the rank in the process grid
  Box<D> owned;      // in global coordinates

  Block() = default;
  // Requires that refuse() returns nothing.
  Block(const Domain<D>& domain, const ProcessGrid<D>& ranks, int rank)
      : domain(domain), ranks(ranks), rank(rank), place(ranks.place(rank)) {
    for (std::size_t d = 0; d < D; ++d) {
      const Part mine = ranks.block(domain.extents, place, d);
      owned.lower[d] = mine.begin;
      owned.upper[d] = mine.end;
    }
  }
  Block(const Domain<D>& domain, Index ranks, int rank) : Block(domain, grid_for(domain, ranks), rank) {}

  Point<D> size() const { return owned.sizes(); }
  Box<D> cells() const { return {{}, size()}; }  // its own, in local coordinates

  // The rank that is there, this one perhaps; `none` beyond an open end.
  int neighbour(const Point<D>& offset) const { return ranks.neighbour(rank, offset, domain.periodic); }
  // On the lower (step -1) or upper (step 1) side of dimension d.
  bool has_neighbour(std::size_t d, Index step) const {
    Point<D> offset{};
    offset[d] = step;
    return neighbour(offset) != none;
  }

  // Returns the global cell of a local one. Halo cells are allowed; a periodic dimension wraps around.
  Point<D> global(Point<D> local) const {
    for (std::size_t d = 0; d < D; ++d) {
      local[d] += owned.lower[d];
      if (domain.periodic[d]) local[d] = (local[d] % domain.extents[d] + domain.extents[d]) % domain.extents[d];
    }
    return local;
  }
  Point<D> local(const Point<D>& global) const { return minus<D>(global, owned.lower); }
  // The place of a cell in the whole domain, counted in memory order: what inputs are a function of.
  std::uint64_t number(const Point<D>& global) const {
    std::uint64_t n = 0;
    for (std::size_t d = 0; d < D; ++d) n = n * static_cast<std::uint64_t>(domain.extents[d]) + static_cast<std::uint64_t>(global[d]);
    return n;
  }
  // The rank that owns a global cell.
  int owner(const Point<D>& global) const {
    Point<D> at{};
    for (std::size_t d = 0; d < D; ++d) at[d] = part_of(domain.extents[d], ranks.count[d], global[d]);
    return ranks.rank(at);
  }

 private:
  static ProcessGrid<D> grid_for(const Domain<D>& domain, Index ranks) {
    const auto found = process_grid(domain, ranks);
    require(found.has_value(), refuse(domain, ranks));
    return *found;
  }
};

// --- regions of a block, in local coordinates ------------------------------------------------------------------------------

// Own cells that the neighbour over there needs for a halo of such widths.
template <std::size_t D>
constexpr Box<D> send_box(const Point<D>& size, const Point<D>& halo, const Point<D>& offset) {
  Box<D> box{{}, size};
  for (std::size_t d = 0; d < D; ++d) {
    if (offset[d] < 0) box.upper[d] = halo[d];
    if (offset[d] > 0) box.lower[d] = size[d] - halo[d];
  }
  return box;
}

// Halo cells that are own cells of the neighbour over there.
template <std::size_t D>
constexpr Box<D> receive_box(const Point<D>& size, const Point<D>& halo, const Point<D>& offset) {
  Box<D> box{{}, size};
  for (std::size_t d = 0; d < D; ++d) {
    if (offset[d] == 0) continue;
    box.lower[d] = offset[d] < 0 ? -halo[d] : size[d];
    box.upper[d] = box.lower[d] + halo[d];
  }
  return box;
}

// The own cells of a block in two parts: `inner` is what a stencil of such a radius can compute before any halo cell has arrived,
// `rim` the others, in disjoint boxes. Where a block has no neighbour nothing arrives, and the inner part goes to the end.
template <std::size_t D>
struct Split {
  Box<D> inner;
  std::vector<Box<D>> rim;
};

template <std::size_t D>
Split<D> split(const Block<D>& block, const Point<D>& radius) {
  Box<D> inner = block.cells();
  for (std::size_t d = 0; d < D; ++d) {
    if (block.has_neighbour(d, -1)) inner.lower[d] += radius[d];
    if (block.has_neighbour(d, 1)) inner.upper[d] -= radius[d];
  }
  if (inner.empty()) inner = {};
  return {inner, difference(block.cells(), inner)};
}

}  // namespace fl::grid::inline FL_ROLE
