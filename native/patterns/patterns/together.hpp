// Phases that are a collective operation.
#pragma once

#include "firstlight/patterns/pattern.hpp"

namespace fl::patterns {

// `bytes` as Together has them, the same in all groups, which `group` returns.
inline Phase together(std::string name, Collective collective, std::int64_t bytes, std::function<Group(Rank)> group,
                      std::int64_t repetitions = 1, Rank root = 0) {
  return {
      .name = std::move(name),
      .repetitions = repetitions,
      .together = {.collective = collective, .bytes = [bytes](const Group&) { return bytes; }, .group = std::move(group), .root = root}};
}

inline std::function<Group(Rank)> all_ranks(Rank ranks) {
  return [ranks](Rank) { return Group{.count = ranks}; };
}
// Rows of `columns` ranks, one after the other.
inline std::function<Group(Rank)> row_of(Rank columns) {
  return [columns](Rank me) { return Group{.first = me / columns * columns, .count = columns}; };
}
// Columns of a grid that has so many.
inline std::function<Group(Rank)> column_of(Rank columns, Rank rows) {
  return [columns, rows](Rank me) { return Group{.first = me % columns, .stride = columns, .count = rows}; };
}

}  // namespace fl::patterns
