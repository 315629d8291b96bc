// HPL: one panel of the factorisation of a dense matrix that is distributed block-cyclically over a grid of processes. The column of processes that has
// the panel looks for pivots; the panel goes along rows; rows that change places, and the block row that follows, go along columns.
#include <algorithm>

#include "neighbours.hpp"
#include "together.hpp"

namespace fl::patterns {

namespace {

// Rows or columns of a matrix of n, from `first` on, that part `me` of `parts` has of blocks dealt cyclically.
std::int64_t dealt(std::int64_t n, std::int64_t first, std::int64_t block, std::int64_t parts, std::int64_t me) {
  const auto before = [&](std::int64_t end) {  // of rows 0 to end - 1
    const std::int64_t blocks = end / block, rest = end % block;
    return blocks / parts * block + (me < blocks % parts ? block : me == blocks % parts ? rest : 0);
  };
  return before(n) - before(first);
}

Instance instance(Rank ranks, const Values& v) {
  const Grid4 grid = rows_and_columns("hpl", ranks, value(v, "p"), value(v, "q"));
  const auto rows = static_cast<Rank>(grid.count[2]), columns = static_cast<Rank>(grid.count[3]);
  const std::int64_t n = value(v, "n"), nb = value(v, "nb"), panels = (n + nb - 1) / nb, k = value(v, "panel");
  if (k >= panels) throw Refused("hpl: panel=" + std::to_string(k) + " is none of " + std::to_string(panels));
  const std::int64_t width = std::min(nb, n - k * nb), row0 = k % rows, column0 = k % columns;
  const auto local_rows = [=](Rank me) { return dealt(n, k * nb, nb, rows, me / columns); };
  const auto local_columns = [=](Rank me) { return dealt(n, std::min(n, (k + 1) * nb), nb, columns, me % columns); };
  const auto piece = [=](Rank me) { return (width + rows - 1) / rows * local_columns(me) * 8; };  // of the rows that move

  Instance made{.iterations = panels, .shape = {columns, rows}};
  const auto owners = [=](Rank me) {  // the column of processes that has the panel; every other process is alone
    return me % columns == column0 ? column_of(columns, rows)(me) : Group{.first = me};
  };
  if (rows > 1) made.phases.push_back(together("pivots", Collective::allreduce, 8 * (2 * width + 4), owners, width));
  if (columns > 1)
    made.phases.push_back({.name = "panel along rows",
                           .together = {.collective = Collective::broadcast,
                                        .bytes = [=](const Group& g) { return 8 * (local_rows(g.first) * width + width * width + width); },
                                        .group = row_of(columns),
                                        .root = static_cast<Rank>(column0)}});
  if (rows > 1) {
    // The rows of the block go out to those that have a pivot, and the pivots' rows come back: a share of each, on average.
    const auto swap = [=](Rank me, Messages& out) {
      const auto home = static_cast<Rank>(row0) * columns + me % columns;
      if (piece(me) == 0) return;
      if (me != home) {
        out.push_back({home, piece(me)});
        return;
      }
      for (Rank r = 0; r < rows; ++r)
        if (r != row0) out.push_back({r * columns + me % columns, piece(me)});
    };
    made.phases.push_back({.name = "swaps along columns", .sends = swap, .receives = swap});
    made.phases.push_back({.name = "block row along columns",
                           .together = {.collective = Collective::allgather,
                                        .bytes = [=](const Group& g) { return piece(g.first); },
                                        .group = column_of(columns, rows)}});
  }
  return made;
}

}  // namespace

FL_PATTERN(hpl){
    .name = "hpl",
    .title = "dense linear equations: pivots and swaps along columns, panels along rows",
    .applications = "HPL (dense linear equations)",
    .source = "allgather, broadcast, send and receive by R4's table of applications; HPL 2.3's algorithm page, rows swapped as in `long`",
    .parameters =
        {{.name = "n", .value = 40000, .least = 1, .most = 1 << 26, .means = "equations"},
         {.name = "nb", .value = 192, .least = 1, .most = 4096, .means = "width of a panel"},
         {.name = "panel", .value = 0, .least = 0, .most = 1 << 26, .means = "index of the panel, from 0: the first panel is the largest"},
         count("p", "rows of processes; 0: as square as possible"),
         count("q", "columns of processes")},
    .small = {"n=512", "nb=16"},
    .instance = instance};

}  // namespace fl::patterns
