// Several sweeps at once over data that fit into a cache (temporal blocking): the same operations on every point, in another order.
//
// Sweep t of a group works on plane s - t in step s, and in a tile of rows on those that are t rows before the tile's. So what a sweep
// reads was written by the one before it, in this tile and step, the step before or the tile before; and what it overwrites, the values
// of two sweeps ago, no sweep reads any more. Two fields are enough, and the results are those of plain sweeps, bit by bit.
#pragma once

#include <utility>

#include "firstlight/alone.hpp"
#include "firstlight/caches.hpp"
#include "interleaved.hpp"

namespace himeno {

inline constexpr Index at_once = 12;    // sweeps
inline constexpr Index most_rows = 64;  // of a tile

// Bytes that a step of a tile touches. Of two caches that may serve it the better one differs from machine to machine: where the last one
// is near and fast, tiles for a small second one are too narrow to pay. So best_tile() tries both.
inline Index nearer_tile() { return fl::second_level_cache() / 10 * 7; }
inline constexpr Index farther_tile = Index{6} << 20;  // a core's share of the last cache

// A group of sweeps, 1 to at_once, that begins with s.p; s.next has the results where their number is odd.
class Group {
 public:
  Group(State& s, const Interleaved& lines, Index sweeps, Index tile_bytes, Index most_planes)
      : s_(s), lines_(lines), sweeps_(sweeps), size_(s.block.size()), rows_(tile_rows(s, sweeps, tile_bytes)) {
    size_[0] = std::min(size_[0], most_planes);
  }

  Index tiles() const { return (size_[1] + sweeps_ - 1 + rows_ - 1) / rows_; }
  Index steps() const { return size_[0] + sweeps_ - 1; }

  // Step `step` of a tile, after the same step of the tile before and all steps before it of this one; returns the last sweep's sum.
  double operator()(Index number, Index step) const {
    const Coefficients in = coefficients(s_);
    const auto layout = s_.bnd.layout();
    const auto even = s_.p.view(), odd = s_.next.view();
    double last = 0;
    for (Index t = 0; t < sweeps_; ++t)  // rows within: the nine rows of p that one reads, the next one finds in the nearest cache
      for (Index row = number * rows_; row < (number + 1) * rows_; ++row) {
        const Index i = step - t, j = row - t;
        if (i < 0 || i >= size_[0] || j < 0 || j >= size_[1]) continue;
        const auto from = t % 2 == 0 ? even : odd, to = t % 2 == 0 ? odd : even;
        const Row it{in, layout.distance({i, j, 0}), &from(i, j, 0), from.stride[0], from.stride[1], &to(i, j, 0), size_[2]};
        const double sum = Lines<Store::ordinary>{lines_}(it);
        if (t == sweeps_ - 1) last += sum;
      }
    return last;
  }

 private:
  static Index tile_rows(const State& s, Index sweeps, Index tile_bytes) {
    const Index row = 14 * static_cast<Index>(sizeof(float)) * s.bnd.layout().pitch;
    return std::clamp<Index>(tile_bytes / (sweeps * row), 1, most_rows);
  }

  State& s_;
  const Interleaved& lines_;
  Index sweeps_;
  Point size_;
  Index rows_;  // of a tile
};

inline constexpr Index tried_planes = 4 * at_once;

// The bytes of a tile by which `work(group)` executes a group faster on the first planes. Changes p and next, as a run does.
template <class Work>
Index best_tile(State& s, const Interleaved& lines, Work work) {
  const Index sweeps = std::min(s.params.sweeps, at_once);
  const auto seconds = [&](Index bytes) {
    const double begin = fl::clock_seconds();
    s.gosa = work(Group(s, lines, sweeps, bytes, tried_planes));
    return fl::clock_seconds() - begin;
  };
  seconds(farther_tile);  // what is touched first waits for its pages
  return seconds(nearer_tile()) < seconds(farther_tile) ? nearer_tile() : farther_tile;
}

// `work(group)` executes a group and returns the sum of its last sweep.
template <class Work>
void run_in_groups(State& s, const Interleaved& lines, Index tile_bytes, Work work) {
  for (Index left = s.params.sweeps; left > 0;) {
    const Index sweeps = std::min(left, at_once);
    s.gosa = work(Group(s, lines, sweeps, tile_bytes, s.block.size()[0]));
    if (sweeps % 2 != 0) std::swap(s.p, s.next);
    left -= sweeps;
  }
}

}  // namespace himeno
