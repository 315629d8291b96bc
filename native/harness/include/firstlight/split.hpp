// How work is divided: a run of indices into contiguous parts, processes into a grid of one to four dimensions or more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "firstlight/role.hpp"

namespace fl {

using Index = long long;  // of 64 bits everywhere, and what "%lld" prints

inline namespace FL_ROLE {

// The indices begin <= i < end.
struct Part {
  Index begin = 0, end = 0;
  constexpr Index size() const { return end - begin; }
  constexpr bool operator==(const Part&) const = default;
};

// The first index of part k of n indices in `parts` parts, 0 <= k <= parts: floor(n k / parts), without overflow of the product.
constexpr Index part_begin(Index n, Index parts, Index k) { return n / parts * k + n % parts * k / parts; }

// Part k, 0 <= k < parts. Sizes differ by one at most; some parts are empty where n < parts.
constexpr Part part(Index n, Index parts, Index k) { return {part_begin(n, parts, k), part_begin(n, parts, k + 1)}; }

// The same in whole units of `unit` indices (a cache line, a vector); what is left of n belongs to the last part.
constexpr Part part_in_units(Index n, Index parts, Index k, Index unit) {
  const Part units = part(n / unit, parts, k);
  return {units.begin * unit, k + 1 == parts ? n : units.end * unit};
}

// The part that index i belongs to, 0 <= i < n.
constexpr Index part_of(Index n, Index parts, Index i) { return ((i + 1) * parts - 1) / n; }

// Processes that stand in a grid of D dimensions; ranks count the last dimension fastest.
template <std::size_t D>
struct ProcessGrid {
  using Place = std::array<Index, D>;
  static constexpr int none = -1;  // the rank beyond an edge

  Place count{};

  constexpr Index size() const {
    Index all = 1;
    for (const Index c : count) all *= c;
    return all;
  }
  constexpr Place place(Index rank) const {
    Place x{};
    for (std::size_t d = D; d-- > 0; rank /= count[d]) x[d] = rank % count[d];
    return x;
  }
  constexpr int rank(const Place& x) const {
    Index number = 0;
    for (std::size_t d = 0; d < D; ++d) number = number * count[d] + x[d];
    return static_cast<int>(number);
  }
  // The rank that is `step` away, -count <= step <= count; around the torus where a dimension is periodic, else `none` beyond an edge.
  constexpr int neighbour(int of, const Place& step, const std::array<bool, D>& periodic) const {
    Place x = place(of);
    for (std::size_t d = 0; d < D; ++d) {
      x[d] += step[d];
      if (x[d] >= 0 && x[d] < count[d]) continue;
      if (!periodic[d]) return none;
      x[d] = (x[d] + count[d]) % count[d];
    }
    return rank(x);
  }
  // Around the torus in all dimensions.
  constexpr int neighbour(int of, const Place& step) const {
    std::array<bool, D> all{};
    for (bool& each : all) each = true;
    return neighbour(of, step, all);
  }
  // What a rank holds of a grid of `extents` in dimension d.
  constexpr Part block(const Place& extents, const Place& x, std::size_t d) const { return part(extents[d], count[d], x[d]); }
};

// Any extent may be cut into any number of parts that leaves each part an index.
struct NoEmptyPart {
  constexpr bool operator()(Index extent, Index count) const { return count <= extent; }
};

template <std::size_t D>
constexpr std::array<double, D> all_alike() {
  std::array<double, D> costs{};
  for (double& cost : costs) cost = 1;
  return costs;
}

// The grid of `processes` whose blocks of `extents` have the least surface, faces with their normal along d counted `costs`[d] times; counts
// that are not 0 in `wanted` are taken as they are.
// If several grids have the least surface, it takes the one that cuts the first dimension most, then the second, ...: the faces of slow
// dimensions are contiguous in memory. fits(extent, count), or fits(dimension, extent, count), returns whether a dimension may be cut so.
// The result is empty if no grid fits.
template <std::size_t D, class Fits = NoEmptyPart>
constexpr std::optional<ProcessGrid<D>> process_grid(Index processes, const std::array<Index, D>& extents,
                                                     const std::array<Index, D>& wanted = {}, Fits fits = {},
                                                     const std::array<double, D>& costs = all_alike<D>()) {
  std::optional<ProcessGrid<D>> best;
  double least = 0;
  ProcessGrid<D> grid;
  const auto fitting = [&](std::size_t d, Index count) {
    if constexpr (std::is_invocable_v<Fits, std::size_t, Index, Index>)
      return fits(d, extents[d], count);
    else
      return fits(extents[d], count);
  };
  const auto place = [&](const auto& self, std::size_t d, Index rest) -> void {
    if (d == D) {
      if (rest != 1) return;
      double surface = 0;  // of a block, a share of its volume
      for (std::size_t k = 0; k < D; ++k) surface += costs[k] * static_cast<double>(grid.count[k]) / static_cast<double>(extents[k]);
      if (best && !(surface < least * (1 - 1e-12))) return;  // sums in another order may differ in the last bit
      best = grid;
      least = surface;
      return;
    }
    for (Index c = wanted[d] != 0 ? wanted[d] : rest; c >= 1; --c) {
      if (rest % c == 0 && fitting(d, c)) {
        grid.count[d] = c;
        self(self, d + 1, rest / c);
      }
      if (wanted[d] != 0) return;
    }
  };
  place(place, 0, processes);
  return best;
}

}  // namespace FL_ROLE
}  // namespace fl
