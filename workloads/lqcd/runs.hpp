// Which sites of a layout are worked on, in which order: runs along rows, and rows in blocks that serve the caches.
#pragma once

#include <vector>

#include "firstlight/caches.hpp"
#include "layout.hpp"

namespace lqcd {

// Outer sites first .. first + count - 1 (counted in half rows) of one row and one parity.
struct Run {
  Index row;
  int parity, first, count;
};

enum Parities { even = 1, odd = 2, both = 3 };
enum Which { everything, interior, boundary };  // boundary: sites that need what another process sends

// Rows are visited in blocks of x, each for all t: what slice t leaves in the cache (of this process's core) serves t + 1. A number is
// used again two slices later, when as much has gone by as two slices of the block hold. At its edges a block reads what another one
// has read, so that blocks of less than four are worse than none (measured).
struct Blocks {
  Index rows;       // in x
  bool slices_fit;  // two slices of a block stay in the cache
};
inline Blocks blocks(const Layout& layout, std::size_t number_bytes) {
  const Index all = layout.outer[1];
  const double reals = (matrix_reals * 4 + spinor_reals) * 2 * layout.half_row * layout.outer[2] * layout.lanes;  // at one t, x
  const double fitting = 0.75 * static_cast<double>(fl::second_level_cache()) / (2 * reals * static_cast<double>(number_bytes));
  Index rows = all;
  while (rows > 1 && static_cast<double>(rows) > fitting) rows = (rows + 1) / 2;
  const bool fit = static_cast<double>(rows) <= fitting && (rows == all || rows >= 4);
  return {fit ? rows : all, fit};
}

// Returns the bytes of a number that runs() uses for so many threads, 0 for several: they work on parts of t, where their pages are; blocks
// for the cache of one core would scatter them.
inline std::size_t bytes_in_order(int threads, std::size_t number_bytes) { return threads > 1 ? 0 : number_bytes; }

// Both parities of a row follow each other, so that one sweep for D reads links and spinors once.
inline std::vector<Run> runs(const Layout& layout, int parities, Which which = everything, std::size_t number_bytes = sizeof(float)) {
  std::vector<Run> found;
  const Extents& n = layout.outer;
  const auto cut = [&](std::size_t mu, Index x) { return layout.lattice.cut(mu) && (x == 0 || x == n[mu] - 1); };
  const auto add = [&](Index row, int parity, Index first, Index last) {
    if (first < last) found.push_back({row, parity, static_cast<int>(first), static_cast<int>(last - first)});
  };
  const auto add_row = [&](Index t, Index x, Index y) {
    const Index row = (t * n[1] + x) * n[2] + y, h = layout.half_row;
    const bool all = cut(0, t) || cut(1, x) || cut(2, y);
    for (int p = 0; p < 2; ++p) {
      if ((parities >> p & 1) == 0) continue;
      const bool begins = ((t + x + y + p) & 1) == 0;  // the first site of this parity is z = 0, else the last is z = n - 1
      const Index low = layout.lattice.cut(3) && begins ? 1 : 0, high = layout.lattice.cut(3) && !begins ? h - 1 : h;
      if (which == everything || (which == boundary && all)) add(row, p, 0, h);
      if (which == interior && !all) add(row, p, low, high);
      if (which == boundary && !all) add(row, p, 0, low), add(row, p, high, h);
    }
  };
  const Index block = blocks(layout, number_bytes).rows;
  for (Index first = 0; first < n[1]; first += block)
    for (Index t = 0; t < n[0]; ++t)
      for (Index x = first; x < std::min(first + block, n[1]); ++x)
        for (Index y = 0; y < n[2]; ++y) add_row(t, x, y);
  return found;
}

}  // namespace lqcd
