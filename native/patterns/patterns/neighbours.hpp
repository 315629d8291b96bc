// Processes that stand in a grid of one to four dimensions and exchange faces with their neighbours in all directions at once.
#pragma once

#include <array>

#include "firstlight/patterns/pattern.hpp"
#include "firstlight/split.hpp"

namespace fl::patterns {

inline std::int64_t value(const Values& values, std::string_view name) { return values.find(name)->second; }

using Grid4 = ProcessGrid<4>;  // dimensions that are not used have one process and are not exchanged

// As cubic as possible over the last `dimensions` of four, except for the counts that are given (0: not).
inline Grid4 grid_of(std::string_view who, Rank ranks, std::size_t dimensions, std::array<Index, 4> wanted = {}) {
  const std::array<Index, 4> extents{ranks, ranks, ranks, ranks};
  Index fixed = 1;
  for (std::size_t d = 0; d < 4; ++d) {
    if (d + dimensions < 4) wanted[d] = 1;
    if (wanted[d] > 0) fixed *= wanted[d];
  }
  const auto found = process_grid<4>(ranks, extents, wanted);
  if (!found)
    throw Refused(std::string(who) + " cannot put " + std::to_string(ranks) + " processes into a grid with the given counts, " +
                  std::to_string(fixed) + " in total");
  return *found;
}

// The extents as a torus names them: the first varies fastest in a rank.
inline std::vector<Rank> shape_of(const Grid4& grid, std::size_t dimensions) {
  std::vector<Rank> shape;
  for (std::size_t d = 4; d-- > 4 - dimensions;) shape.push_back(static_cast<Rank>(grid.count[d]));
  return shape;
}

// Rows and columns of processes, as square as possible with no more rows than columns, except for the counts that are given (0: not).
inline Grid4 rows_and_columns(std::string_view who, Rank ranks, Index rows, Index columns) {
  const Grid4 grid = grid_of(who, ranks, 2, {1, 1, rows, columns});
  if (rows == 0 && columns == 0 && grid.count[2] > grid.count[3]) return {{1, 1, grid.count[3], grid.count[2]}};
  return grid;
}

// Both ways along every dimension that is cut; bytes[d]: of a face across dimension d, 0 where none is exchanged. Around the torus, or with edges. What goes one way
// comes from the other side, so both lists name two messages between the same two ranks in one order.
inline Phase faces(const std::string& name, const Grid4& grid, const std::array<std::int64_t, 4>& bytes, bool periodic,
                   std::int64_t repetitions = 1) {
  const auto each = [=](Rank me, Index sign, Messages& out) {
    for (std::size_t d = 0; d < 4; ++d) {
      if (grid.count[d] == 1 || bytes[d] == 0) continue;
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
