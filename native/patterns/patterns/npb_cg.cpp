// NPB CG: the inverse power method with 25 steps of conjugate gradients. Processes form rows and columns, both powers of two; partial sums
// of q = A p travel along rows by recursive halving of distances, then a process swaps its piece with the one at the transposed place.
// Scalars are summed along rows as well, by messages of their own.
#include <bit>

#include "firstlight/patterns/pattern.hpp"

namespace fl::patterns {

namespace {

constexpr std::int64_t na_of[] = {1400, 7000, 14000, 75000, 150000, 1500000, 9000000};
constexpr std::int64_t iterations_of[] = {15, 15, 15, 75, 75, 100, 100};
constexpr std::int64_t steps = 25;  // of conjugate gradients in one iteration
constexpr std::int64_t real = 8;

// What every process computes at its start.
struct Grid {
  std::int64_t na = 0;
  Rank rows = 1, columns = 1;

  Rank row(Rank me) const { return me / columns; }
  Rank column(Rank me) const { return me % columns; }
  bool square() const { return rows == columns; }
  int stages() const { return std::countr_zero(static_cast<unsigned>(columns)); }
  // Rows of the matrix: the first `na mod rows` have one more.
  std::int64_t length(Rank r) const { return na / rows + (r < na % rows ? 1 : 0); }
  // The share of a row's length that a process has of a sum. Where columns are twice the rows, two neighbours share.
  std::int64_t piece(Rank me) const { return square() ? length(row(me)) : (length(row(me)) + 1 - me % 2) / 2; }
  // The far end of stage s, counted from 1.
  Rank partner(Rank me, int s) const { return row(me) * columns + (column(me) ^ (columns >> s)); }
  // The last stage, between neighbours, goes first: where two share, it sends the other's piece.
  std::int64_t sent(Rank me, int s) const { return !square() && s == stages() ? length(row(me)) - piece(me) : piece(me); }
  Rank transposed(Rank me) const {
    if (square()) return me % rows * rows + me / rows;
    return 2 * (me / 2 % rows * rows + me / 2 / rows) + me % 2;
  }
};

Grid grid_of(Rank ranks, std::int64_t na) {
  if (!std::has_single_bit(static_cast<unsigned>(ranks)))
    throw Refused("npb_cg needs a power of two; " + std::to_string(ranks) + " processes given");
  const int bits = std::countr_zero(static_cast<unsigned>(ranks));
  const Grid grid{.na = na, .rows = Rank{1} << bits / 2, .columns = Rank{1} << (bits + 1) / 2};
  if (na < grid.columns) throw Refused("npb_cg needs at least one unknown per column of processes; na=" + std::to_string(na) + " given");
  return grid;
}

Instance instance(Rank ranks, const Values& values) {
  const auto size = static_cast<std::size_t>(values.find("class")->second);
  const std::int64_t na = values.find("na")->second;
  const Grid g = grid_of(ranks, na > 0 ? na : na_of[size]);
  Instance made{.iterations = iterations_of[size] + 1, .phases = {}, .shape = {g.columns, g.rows}};  // one untimed iteration goes before
  const auto between = [&](const std::string& name, std::int64_t repetitions, auto partner, auto sent) {
    made.phases.push_back({.name = name,
                           .repetitions = repetitions,
                           .sends = [=](Rank me, Messages& out) { out.push_back({partner(me), real * sent(me)}); },
                           .receives = [=](Rank me, Messages& out) { out.push_back({partner(me), real * sent(partner(me))}); }});
  };
  const auto sum = [&](const std::string& of, std::int64_t repetitions, std::int64_t words) {
    for (int s = 1; s <= g.stages(); ++s)
      between(
          "sum of " + of + ", stage " + std::to_string(s), repetitions, [=](Rank me) { return g.partner(me, s); },
          [=](Rank) { return words; });
  };
  // The last pass is that of the residual: A z instead of A p. There is a sum of r.r before the first pass, and none in the last.
  for (int s = g.stages(); s >= 1; --s)
    between(
        "partial sums, stage " + std::to_string(s), steps + 1, [=](Rank me) { return g.partner(me, s); },
        [=](Rank me) { return g.sent(me, s); });
  if (ranks > 1) between("transpose", steps + 1, [=](Rank me) { return g.transposed(me); }, [=](Rank me) { return g.piece(me); });
  sum("p.q", steps + 1, 1);
  sum("r.r", steps + 1, 1);
  sum("norms", 1, 2);
  return made;
}

}  // namespace

FL_PATTERN(npb_cg){
    .name = "npb_cg",
    .title = "NPB CG: sums along rows, exchange with the transposed rank",
    .applications = "NPB CG (conjugate gradients, unstructured sparse matrix)",
    .source = "NAS Parallel Benchmarks 3.3, MPI, CG/cg.f",
    .parameters = {{.name = "class", .value = 3, .means = "size of the problem", .words = {"S", "W", "A", "B", "C", "D", "E"}},
                   {.name = "na", .value = 0, .most = 1'000'000'000, .means = "unknowns; 0: those of the class"}},
    .small = {"class=S"},
    .instance = instance};

}  // namespace fl::patterns
