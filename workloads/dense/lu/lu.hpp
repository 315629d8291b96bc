// lu: A x = b by P A = L U with row exchanges, then both triangular systems (HPL's rules; CALU of Grigori, Demmel and Xiang, 2011; R4).
//
// Rows of A are contiguous. L and U replace A; pivot[k] is the row that row k changed places with in step k. A step is a whole run.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "firstlight/changing.hpp"
#include "firstlight/damage.hpp"
#include "firstlight/workload.hpp"

namespace lu::inline FL_ROLE {

using fl::Index;

inline constexpr Index widest = 256;  // columns of a panel

struct Params {
  Index n = 256, block = 32, groups = 4, fixed = 50;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "rows", 1, 1 << 20, "equations");
    fields.integer("block", block, "columns", 1, widest, "columns of a tile column");
    fields.integer("groups", groups, "groups", 1, 1024, "of rows in a tournament, each of which sends its best to the next round");
    fields.integer("fixed", fixed, "%", 0, 100,
                   "of the tile columns, the first ones: each has a thread of its own, the rest is taken by whoever is free");
  }
};

struct Traits {
  bool tournament = false;  // pivots are the winners of a tournament, not the largest of a column
};

struct State {
  Params p;
  fl::Team team;
  bool tournament = false;
  Index n = 0, ld = 0;  // elements from a row to the next
  fl::Array<double> input, a, b, x;
  fl::Array<Index> pivot;
  fl::Changing changing;  // elements of A
  double factor = 1;      // of b
  double* row(Index i) { return a.data() + i * ld; }
  const double* row(Index i) const { return a.data() + i * ld; }
};

inline constexpr fl::Phases phases{"panels", "updates", "solve"};
inline constexpr fl::About about{
    .title = "Linear equations by LU",
    .cost = "2/3 n^3 + 3/2 n^2 flops (HPL's count); A is read and written once at least",
    .verified =
        "HPL's residual of x; L U v against P A v with a random v, row by row; the magnitude of L, 1 at most with partial pivoting; up to "
        "96 "
        "equations pivots and factors against an elimination in long double",
    .tolerance = "16 for HPL's residual; n eps |L| |U| |v| for a row; of L from a tournament 64",
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

// Rows do not begin in the same set of a cache; behind each there is room for its right side.
inline Index leading(Index n) { return (n + 7) / 8 * 8 + 8; }

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.p = p, s.team = team, s.tournament = traits.tournament;
  s.n = p.n, s.ld = leading(p.n);
  s.input = fl::Array<double>(s.n * s.n);
  s.a = fl::Array<double>(s.n * s.ld);
  s.b = fl::Array<double>(s.n);
  s.x = fl::Array<double>(s.n);
  s.pivot = fl::Array<Index>(s.n);
  s.changing = fl::Changing(s.n * s.n, fl::Changing::most, true);
  fl::first_touch(&s);
  for (Index at = 0; at < s.input.size(); ++at) s.input[at] = element(at, -1);
}

inline void reset(State& s) {
  for (Index i = 0; i < s.n; ++i) {
    std::copy_n(s.input.data() + i * s.n, s.n, s.row(i));
    std::fill(s.row(i) + s.n, s.row(i) + s.ld, 0.0);
    s.b[i] = right_side(i, 0);
  }
}

inline fl::Cost cost(const Params& p, const fl::Team&) {
  const auto n = static_cast<double>(p.n);
  return {.flops = 2 * n * n * n / 3 + 1.5 * n * n, .bytes = 16 * n * n, .working_set = 8 * n * n};
}

// An element of A at a place that no step knows, and the right side.
inline void touch(State& s, Index iteration) {
  s.changing.touch(iteration, [&](Index at) { s.input[at] = s.row(at / s.n)[at % s.n] = element(at, iteration); });
  s.factor = fl::step_factor(iteration);
}

inline Index renew(State& s, Index next) {
  return s.changing.renew(next, [&](Index iteration) { touch(s, iteration); });
}

inline void poison(State& s) {
  fl::poison(s.x.data(), s.n);
  std::fill(s.pivot.begin(), s.pivot.end(), Index{-1});
}

// How much larger than those of A elements of U are.
inline void observe(State& s, fl::Observations& seen) {
  double largest = 0, of_a = 0;
  for (Index i = 0; i < s.n; ++i)
    for (Index j = 0; j < s.n; ++j) {
      of_a = std::max(of_a, std::fabs(s.input[i * s.n + j]));
      if (j >= i) largest = std::max(largest, std::fabs(s.row(i)[j]));
    }
  seen.value("growth", std::isfinite(largest) ? largest / of_a : 0);
  double bits = 0;
  for (Index i = 0; i < s.n; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, &s.x[i], sizeof word);
    bits += static_cast<double>(fl::hash(word ^ static_cast<std::uint64_t>(i) << 32) >> 44);
  }
  seen.value("fingerprint", bits);  // of all bits of x
}

}  // namespace lu::inline FL_ROLE

#include "judge.hpp"
