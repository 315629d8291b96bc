// Processes that stand in a grid of one to four dimensions and exchange faces with their neighbours in all directions at once.
#pragma once

#include <array>

#include "firstlight/patterns/pattern.hpp"
#include "firstlight/split.hpp"

namespace fl::patterns {

inline std::int64_t value(const Values& values, std::string_view name) { return values.find(name)->second; }

using Grid4 = ProcessGrid<4>;  // dimensions that are not used have one process and are not exchanged

// As cubic as possible over the last `dimensions` of four, but for the counts that are given (0: not).
inline Grid4 grid_of(std::string_view who, Rank ranks, std::size_t dimensions, std::array<Index, 4> wanted = {}) {
  const std::array<Index, 4> extents{ranks, ranks, ranks, ranks};
  Index fixed = 1;
  for (std::size_t d = 0; d < 4; ++d) {
    if (d + dimensions < 4) wanted[d] = 1;
    if (wanted[d] > 0) fixed *= wanted[d];
  }
  const auto found = process_grid<4>(ranks, extents, wanted);
  if (!found)
    throw Refused(std::string(who) + " cannot put " + std::to_string(ranks) + " processes into a grid with the counts given, which are " +
                  std::to_string(fixed) + " together");
  return *found;
}

// The extents as a torus names them: the first varies fastest in a rank.
inline std::vector<Rank> shape_of(const Grid4& grid, std::size_t dimensions) {
  std::vector<Rank> shape;
  for (std::size_t d = 4; d-- > 4 - dimensions;) shape.push_back(static_cast<Rank>(grid.count[d]));
  return shape;
}

// Both ways along every dimension that is cut; bytes[d]: of a face across dimension d. Around the torus, or with edges. What goes one way
// comes from the other side, so both lists name two messages between the same two ranks in one order.
inline Phase faces(const std::string& name, const Grid4& grid, const std::array<std::int64_t, 4>& bytes, bool periodic,
                   std::int64_t repetitions = 1) {
  const auto each = [=](Rank me, Index sign, Messages& out) {
    for (std::size_t d = 0; d < 4; ++d) {
      if (grid.count[d] == 1) continue;
      for (const Index step : {-sign, sign}) {
        Grid4::Place away{};
        away[d] = step;
        const int peer = grid.neighbour(me, away, {periodic, periodic, periodic, periodic});
        if (peer != Grid4::none) out.push_back({peer, bytes[d]});
      }
    }
  };
  return {.name = name,
          .repetitions = repetitions,
          .sends = [each](Rank me, Messages& out) { each(me, 1, out); },
          .receives = [each](Rank me, Messages& out) { each(me, -1, out); }};
}

inline Parameter count(std::string name, std::string means) {
  return {.name = std::move(name), .value = 0, .least = 0, .most = 1 << 20, .means = std::move(means)};
}

}  // namespace fl::patterns
