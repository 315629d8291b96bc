// Finite elements on a square that is refined level by level: each block of squares shares the nodes of its rim with up to eight others. In
// each iteration of the solver one packed message goes to each, with the shared nodes of all levels; scalars and the coarsest level are summed.
#include <algorithm>

#include "neighbours.hpp"
#include "together.hpp"

namespace fl::patterns {

namespace {

// 8 x 8 squares, refined; a level's functions are quadratic on the finest, so that its nodes are those of the level beyond.
constexpr std::int64_t squares(std::int64_t level) { return std::int64_t{8} << level; }

struct Cut {
  Rank rows = 1, columns = 1;
  std::int64_t base = 0, finest = 0;  // levels: the coarsest on which every block has squares of its own, and that of the nodes

  // Squares of part k on a level from `base` on.
  std::int64_t part(Rank k, Rank parts, std::int64_t level) const {
    return (squares(base) * (k + 1) / parts - squares(base) * k / parts) << (level - base);
  }
  std::int64_t nodes(Rank me, Index row_step, Index column_step) const {
    if (row_step != 0 && column_step != 0) return finest - base;  // a corner has one on each level
    std::int64_t sum = 0;
    for (std::int64_t level = base + 1; level <= finest; ++level)
      sum += 1 + (row_step != 0 ? part(me % columns, columns, level) : part(me / columns, rows, level));
    return sum;
  }
};

Instance instance(Rank ranks, const Values& v) {
  const Grid4 grid = rows_and_columns("finite_elements", ranks, value(v, "rows"), 0);
  Cut cut{.rows = static_cast<Rank>(grid.count[2]), .columns = static_cast<Rank>(grid.count[3]), .finest = value(v, "level") + 1};
  while (squares(cut.base) < std::max(cut.rows, cut.columns)) ++cut.base;
  if (cut.base > value(v, "level"))
    throw Refused("finite_elements needs level=" + std::to_string(cut.base) + " or more for " + std::to_string(cut.rows) + " x " +
                  std::to_string(cut.columns) + " blocks; " + std::to_string(ranks) + " processes given");
  const auto shared = [=](Rank me, Messages& out) {
    for (Index row = -1; row <= 1; ++row)
      for (Index column = -1; column <= 1; ++column) {
        const int peer = grid.neighbour(me, {0, 0, row, column}, {false, false, false, false});
        if (peer != Grid4::none && peer != me) out.push_back({peer, 8 * cut.nodes(me, row, column)});
      }
  };
  const std::int64_t side = squares(cut.base) + 1;
  return {.iterations = 45,
          .phases = {{.name = "shared nodes of all levels", .sends = shared, .receives = shared},
                     together("coarsest level and scalars", Collective::allreduce, 8 * (side * side + 2), all_ranks(ranks))},
          .shape = shape_of(grid, 2)};
}

}  // namespace

FL_PATTERN(finite_elements){.name = "finite_elements",
                            .title = "blocks of a square share nodes with eight neighbours, on all levels simultaneously",
                            .applications = "multilevel solvers on finite elements",
                            .source = "Pester 2007, CHiC als CLiC-Nachfolger; measured here as an application",
                            .parameters = {{.name = "level", .value = 7, .least = 0, .most = 20, .means = "refinements of 8 x 8 squares"},
                                           count("rows", "rows of blocks; 0: as square as possible")},
                            .small = {"level=3"},
                            .instance = instance};

}  // namespace fl::patterns
