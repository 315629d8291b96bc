// lu: A x = b by P A = L U with row exchanges, then both triangular systems (HPL's rules; CALU of Grigori, Demmel and Xiang, 2011; R4).
//
// Rows of A are contiguous. L and U replace A; pivot[k] is the row that row k changed places with in step k. Rows of L stay where the panel of
// their columns left them, as in HPL: exchanges of later panels are made to the columns behind these only. Processes stand in a grid; blocks of
// rows are dealt to its rows and blocks of columns to its columns. A step is a whole run.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "deal.hpp"
#include "firstlight/error_summary.hpp"
#include "firstlight/input_mutator.hpp"
#include "firstlight/workload.hpp"

namespace lu {

inline constexpr Index widest = 256;  // columns of a panel

struct Params {
  Index n = 256, block = 32, groups = 4, fixed = 50, noise = 0, detour = 1000, down = 0;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "rows", 1, 1 << 20, "equations");
    fields.integer("block", block, "columns", 1, widest, "width of a tile column");
    fields.integer("groups", groups, "groups", 1, 1024, "groups of rows in a tournament; each sends its best rows to the next round");
    fields.integer("fixed", fixed, "%", 0, 100,
                   "share of the tile columns, from the first, that is statically assigned to threads; free threads execute the rest");
    fields.integer("noise", noise, "%", 0, 90, "share of each thread's time that the harness deliberately uses");
    fields.integer("detour", detour, "us", 1, 1000000, "length of each deliberate interruption");
    fields.integer("down", down, "processes", 0, 1 << 20, "processes per column of the process grid; 0: square, or wider than high");
  }
};

struct Traits {
  bool tournament = false;  // pivots are the winners of a tournament, not the largest of a column
};

// What a thread did: seconds since the step began, and the tile column, from 1 on; less than 0 where it was factored.
struct Span {
  double begin, end;
  Index tile;
};

struct State {
  Params p;
  fl::Team team;
  bool tournament = false;
  Index n = 0, ld = 0;         // elements from a row to the next
  Deal rows, columns;          // of this process
  fl::Array<double> input, a;  // its part of A
  fl::Array<double> b, x;      // all of them
  fl::Array<Index> pivot;
  fl::InputMutator changing;               // elements of A
  Index run = 0;                           // number of steps so far, which determines the signs of A
  double factor = 1;                       // of b
  std::vector<std::vector<Span>> threads;  // of the last step, where a scheduler of our own keeps it
  // A row of this process.
  double* row(Index i) { return a.data() + i * ld; }
  const double* row(Index i) const { return a.data() + i * ld; }
};

inline constexpr fl::Phases phases{"panels", "updates", "solve"};
inline constexpr fl::About about{
    .title = "Linear equations with LU",
    .cost = "2/3 n^3 + 3/2 n^2 flops (HPL's count); A is read and written at least once",
    .verified =
        "HPL's residual of x. L U v, compared with P A v for a random v, row by row. The magnitude of L, at most 1 with partial "
        "pivoting. Up to 96 equations: pivots and factors, compared with an elimination in long double.",
    .tolerance = "16 for HPL's residual; n eps |L| |U| |v| for a row; 64 for L with tournament pivoting",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"growth", "1", "growth", "value", 1, "lower"},
};

inline double element(Index at, Index iteration) {
  return fl::uniform(static_cast<std::uint64_t>(at) * 0x100000001b3ull + static_cast<std::uint64_t>(iteration + 1));
}
inline double right_side(Index i, Index iteration) { return fl::uniform(~static_cast<std::uint64_t>(i)) * fl::step_factor(iteration); }

// Returns the signs of the elements in columns 64 k to 64 k + 63 of a row, one bit each. They differ in every run, so no earlier
// elimination can be reused.
inline std::uint64_t signs(Index run, Index row, Index k) {
  return fl::hash(fl::hash(fl::seed() + static_cast<std::uint64_t>(run)) + (static_cast<std::uint64_t>(row) << 20) +
                  static_cast<std::uint64_t>(k));
}
inline double with_sign(double x, std::uint64_t row_signs, Index column) { return (row_signs >> (column & 63) & 1) != 0 ? -x : x; }

// Rows do not begin in the same set of a cache; behind each there is room for its right side.
inline Index leading(Index n) { return (n + 7) / 8 * 8 + 8; }

// Processes in a column of their grid.
inline Index down(const Params& p, Index ranks) {
  if (p.down > 0) return p.down;
  Index most = 1;
  for (Index d = 1; d * d <= ranks; ++d)
    if (ranks % d == 0) most = d;
  return most;
}

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  const Index high = down(p, team.ranks);
  if (team.ranks % high != 0) return fl::text("%d ranks do not form a grid with %lld ranks per column", team.ranks, high);
  if (traits.tournament && p.groups % high != 0)
    return fl::text("%lld groups of rows cannot be distributed to %lld processes in a column", p.groups, high);
  return "";
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.p = p, s.team = team, s.tournament = traits.tournament;
  s.n = p.n;
  const Index high = down(p, team.ranks), wide = team.ranks / high;
  s.rows = {p.n, p.block, high, team.rank / wide};
  s.columns = {p.n, p.block, wide, team.rank % wide};
  s.ld = leading(s.columns.size());
  s.input = fl::Array<double>(s.rows.size() * s.columns.size());
  s.a = fl::Array<double>(s.rows.size() * s.ld);
  s.b = fl::Array<double>(s.n);
  s.x = fl::Array<double>(s.n);
  s.pivot = fl::Array<Index>(s.n);
  s.changing = fl::InputMutator(s.n * s.n, fl::InputMutator::most, true);
  fl::first_touch(&s);
  for (Index i = 0, at = 0; i < s.rows.size(); ++i)
    for (Index j = 0; j < s.columns.size(); ++j, ++at) s.input[at] = element(s.rows.at(i) * s.n + s.columns.at(j), -1);
}

inline void reset(State& s) {
  const Index wide = s.columns.size();
  ++s.run;
  for (Index i = 0; i < s.rows.size(); ++i) {
    const double* const input = s.input.data() + i * wide;
    double* const row = s.row(i);
    for (Index begin = 0; begin < wide; begin += s.p.block) {  // columns that are adjacent in A
      const Index end = std::min(begin + s.p.block, wide), ahead = s.columns.at(begin) - begin;
      for (Index j = begin; j < end;) {
        const std::uint64_t bits = signs(s.run, s.rows.at(i), (j + ahead) / 64);
        const Index last = std::min(end, ((j + ahead) / 64 + 1) * 64 - ahead);
        for (; j < last; ++j) row[j] = with_sign(input[j], bits, j + ahead);
      }
    }
    std::fill(s.row(i) + wide, s.row(i) + s.ld, 0.0);
  }
  for (Index i = 0; i < s.n; ++i) s.b[i] = right_side(i, 0);
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const auto n = static_cast<double>(p.n);
  return {.flops = 2 * n * n * n / 3 + 1.5 * n * n, .bytes = 16 * n * n, .working_set = 8 * n * n / team.ranks};
}

// An element of A at a place that no step can predict, and the right side.
inline void mutate_inputs(State& s, Index iteration) {
  s.changing.mutate_inputs(iteration, [&](Index at) {
    const Index i = at / s.n, j = at % s.n;
    if (!s.rows.has(i) || !s.columns.has(j)) return;
    const Index row = s.rows.before(i), column = s.columns.before(j);
    const double x = s.input[row * s.columns.size() + column] = element(at, iteration);
    s.row(row)[column] = with_sign(x, signs(s.run, i, j / 64), j);
  });
  s.factor = fl::step_factor(iteration);
}

inline Index mutate_between_batches(State& s, Index next) {
  return s.changing.mutate_between_batches(next, [&](Index iteration) { mutate_inputs(s, iteration); });
}

inline void poison(State& s) {
  fl::poison(s.x.data(), s.n);
  std::fill(s.pivot.begin(), s.pivot.end(), Index{-1});
}

// How much larger than those of A elements of U are.
inline void observe(State& s, fl::Observations& seen) {
  double largest[2] = {0, 0};  // of U and of A
  const Index wide = s.columns.size();
  for (Index i = 0; i < s.rows.size(); ++i)
    for (Index j = 0; j < wide; ++j) {
      largest[1] = std::max(largest[1], std::fabs(s.input[i * wide + j]));
      if (s.columns.at(j) >= s.rows.at(i)) largest[0] = std::max(largest[0], std::fabs(s.row(i)[j]));
    }
  fl::maximum(largest, 2);
  seen.value("growth", std::isfinite(largest[0]) ? largest[0] / largest[1] : 0);
  double bits = 0;
  for (Index i = 0; i < s.n; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, &s.x[i], sizeof word);
    bits += static_cast<double>(fl::hash(word ^ static_cast<std::uint64_t>(i) << 32) >> 44);
  }
  seen.value("fingerprint", bits);  // of all bits of x
}

// Which tile column each thread had in hand: time goes to the right; 0 where it had none.
inline void draw(State& s, fl::Picture& picture) {
  if (s.threads.empty()) return;
  double end = 0;
  for (const auto& spans : s.threads)
    for (const Span& span : spans) end = std::max(end, span.end);
  picture.of("tiles", "", static_cast<Index>(s.threads.size()), fl::Picture::most);
  for (std::size_t thread = 0; thread < s.threads.size(); ++thread) {
    double tiles[fl::Picture::most] = {};
    for (Index k = 0; k < fl::Picture::most; ++k) {
      const double time = (static_cast<double>(k) + 0.5) / fl::Picture::most * end;
      for (const Span& span : s.threads[thread])
        if (span.begin <= time && time < span.end) tiles[k] = static_cast<double>(span.tile);
    }
    picture.row(static_cast<Index>(thread), 0, tiles, fl::Picture::most);
  }
}

}  // namespace lu

#include "judge.hpp"
