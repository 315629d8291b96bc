// The four-dimensional lattice: extents, the block of it that a process has, process grids.
//
// Dimension 0 is t (x0), the slowest; dimension 3 is z (x3), the fastest. All extents are even, of blocks too, so that the parity of
// a site is that of its coordinates within its block.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "firstlight/workload.hpp"

namespace lqcd {

using fl::Index;
using Extents = std::array<Index, 4>;

inline constexpr const char* dimension_names[4] = {"t", "x", "y", "z"};

inline Index product(const Extents& e) { return e[0] * e[1] * e[2] * e[3]; }
inline int parity(const Extents& x) { return static_cast<int>((x[0] + x[1] + x[2] + x[3]) & 1); }

// Lexicographic number of x, and back.
inline Index number(const Extents& x, const Extents& extents) {
  return ((x[0] * extents[1] + x[1]) * extents[2] + x[2]) * extents[3] + x[3];
}
inline Extents place(Index number, const Extents& extents) {
  Extents x;
  for (std::size_t mu = 4; mu-- > 0; number /= extents[mu]) x[mu] = number % extents[mu];
  return x;
}

// A rectangular block of a global lattice.
struct Lattice {
  Extents global{}, origin{}, local{};

  static Lattice whole(const Extents& extents) { return {extents, {0, 0, 0, 0}, extents}; }

  Index volume() const { return product(local); }
  Extents to_global(const Extents& x) const { return {origin[0] + x[0], origin[1] + x[1], origin[2] + x[2], origin[3] + x[3]}; }
  bool cut(std::size_t mu) const { return local[mu] != global[mu]; }  // neighbours in mu belong to other blocks
};

// How many processes stand along each dimension. Ranks are counted lexicographically, t slowest.
struct ProcessGrid {
  Extents count{1, 1, 1, 1};
  bool valid = true;

  Extents position(int rank) const { return place(rank, count); }
  int rank(const Extents& position) const { return static_cast<int>(number(position, count)); }
  // The process next to `position` in direction mu, forward (+1) or backward (-1), around the torus.
  int neighbour(Extents position, std::size_t mu, int step) const {
    position[mu] = (position[mu] + step + count[mu]) % count[mu];
    return rank(position);
  }
  Lattice block(const Extents& global, int rank) const {
    Lattice b{global, position(rank), {}};
    for (std::size_t mu = 0; mu < 4; ++mu) {
      b.local[mu] = global[mu] / count[mu];
      b.origin[mu] *= b.local[mu];
    }
    return b;
  }
};

// The grid in which a process has this block, and where it is there.
inline ProcessGrid grid_of(const Lattice& block) {
  ProcessGrid grid;
  for (std::size_t mu = 0; mu < 4; ++mu) grid.count[mu] = block.global[mu] / block.local[mu];
  return grid;
}
inline Extents position_of(const Lattice& block) {
  Extents position;
  for (std::size_t mu = 0; mu < 4; ++mu) position[mu] = block.origin[mu] / block.local[mu];
  return position;
}

inline bool divides(const Extents& global, const Extents& count) {
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (count[mu] < 1 || global[mu] % (2 * count[mu]) != 0) return false;
  return true;
}

// Returns the grid that the user requests; where a dimension is 0, the factors of what remains go, the largest first, to the dimension
// whose blocks are longest. Not valid where `ranks` processes cannot be placed so that every block has even extents.
inline ProcessGrid process_grid(const Extents& global, int ranks, const Extents& wanted) {
  ProcessGrid grid;
  Index rest = ranks;
  for (std::size_t mu = 0; mu < 4; ++mu) {
    if (wanted[mu] == 0) continue;
    grid.count[mu] = wanted[mu];
    grid.valid = grid.valid && rest % wanted[mu] == 0;
    rest /= wanted[mu];
  }
  for (Index factor = rest; factor > 1;) {  // the largest prime factor of the rest
    factor = rest;
    for (Index d = 2; d * d <= factor;) factor % d == 0 && factor != d ? factor /= d : ++d;
    if (factor <= 1) break;
    std::size_t best = 4;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      if (wanted[mu] != 0 || global[mu] % (2 * factor * grid.count[mu]) != 0) continue;
      if (best == 4 || global[mu] / grid.count[mu] > global[best] / grid.count[best]) best = mu;
    }
    if (best == 4) break;
    grid.count[best] *= factor;
    rest /= factor;
  }
  grid.valid = grid.valid && rest == 1 && divides(global, grid.count);
  return grid;
}

inline std::string words(const Extents& e) { return fl::text("%lldx%lldx%lldx%lld", e[0], e[1], e[2], e[3]); }

}  // namespace lqcd
