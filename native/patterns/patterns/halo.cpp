// A halo of w words around each process's square of n x n words, on a torus of processes: rows to the north and south first, then columns
// with what has just come at their ends, so that corners take two steps; or all eight neighbours at once.
#include "neighbours.hpp"

namespace fl::patterns {

namespace {

Phase at_once(const Grid4& grid, std::int64_t edge, std::int64_t corner) {
  const auto each = [=](Rank me, Index sign, Messages& out) {
    for (Index row = -1; row <= 1; ++row)
      for (Index column = -1; column <= 1; ++column) {
        const Rank peer = grid.neighbour(me, {0, 0, sign * row, sign * column});
        if (peer != me) out.push_back({peer, row != 0 && column != 0 ? corner : edge});
      }
  };
  return {.name = "eight neighbours",
          .sends = [each](Rank me, Messages& out) { each(me, 1, out); },
          .receives = [each](Rank me, Messages& out) { each(me, -1, out); }};
}

Instance instance(Rank ranks, const Values& v) {
  const std::int64_t n = value(v, "n"), w = value(v, "width"), word = value(v, "word") == 0 ? 4 : 8;
  if (w > n) throw Refused("halo needs width <= n; n=" + std::to_string(n) + " width=" + std::to_string(w) + " given");
  const Grid4 grid = rows_and_columns("halo", ranks, value(v, "rows"), 0);
  Instance made{.shape = shape_of(grid, 2)};
  if (value(v, "phases") == 1) {
    made.phases.push_back(at_once(grid, w * n * word, w * w * word));
    return made;
  }
  made.phases.push_back(faces("north and south", grid, {0, 0, w * n * word, 0}, true));
  made.phases.push_back(faces("west and east", grid, {0, 0, 0, w * (n + 2 * w) * word}, true));
  return made;
}

}  // namespace

FL_PATTERN(halo){.name = "halo",
                 .title = "four neighbours in two steps, or eight at once",
                 .applications = "stencils in two dimensions",
                 .source = "R3's HALO; measured here as a workload of the same name",
                 .parameters = {{.name = "n", .value = 512, .least = 1, .most = 1 << 14, .means = "words on a side"},
                                {.name = "width", .value = 1, .least = 1, .most = 64, .means = "words of the halo"},
                                {.name = "word", .value = 1, .means = "bytes per word", .words = {"4", "8"}},
                                {.name = "phases", .value = 0, .means = "phases per exchange", .words = {"two", "one"}},
                                count("rows", "rows of processes; 0: as square as possible")},
                 .small = {"n=16"},
                 .instance = instance};

}  // namespace fl::patterns
