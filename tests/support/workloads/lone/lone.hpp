// lone: one rank cannot continue, at one place of a case. For tests of the harness: no rank may wait for that rank.
#pragma once

#include <new>
#include <stdexcept>

#include "../ones.hpp"

namespace lone {

struct Params {
  fl::Index n = 100, rank = -1;
  std::string where = "step";
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "elements", 1, fl::Index{1} << 30, "how many ones");
    fields.integer("rank", rank, "rank", -1, 1 << 20, "that is in trouble; -1: none");
    fields.choice("where", where, "refuse|init|memory|vector|step|check|observe|working_set", "where it is");
  }
};

struct State : ones::Ones {
  std::string trouble;  // of this rank
};

inline constexpr fl::About about{
    .title = "Trouble on one rank",
    .cost = "n flops",
    .verified = "the sum against n plus what the iteration changed",
    .tolerance = "exact",
};

inline constexpr fl::Metric metrics[] = {{"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"}};

inline bool troubled(const Params& p, const fl::Team& team, const char* where) { return p.rank == team.rank && p.where == where; }

inline void meet(const State& s, const char* where) {
  if (s.trouble == where) throw std::runtime_error(fl::text("met trouble in %s", where));
}

inline std::string refuse(const Params& p, const fl::Team& team) { return troubled(p, team, "refuse") ? "met trouble in refuse" : ""; }

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.team = team;
  s.trouble = p.rank == team.rank ? p.where : "";
  meet(s, "init");
  if (s.trouble == "vector") throw std::bad_alloc();
  s.ones = fl::Array<double>(s.trouble == "memory" ? fl::Index{1} << 55 : p.n);
  for (double& one : s.ones) one = 1;
}

// One rank's pages may differ from those of the others.
inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const double n = static_cast<double>(p.n) * team.ranks;
  return {.flops = n, .working_set = troubled(p, team, "working_set") ? 1e8 : 8 * static_cast<double>(p.n)};
}

using ones::mutate_inputs;
using ones::poison;

inline void observe(State& s, fl::Observations& seen) {
  meet(s, "observe");
  seen.value("rank", s.team.rank);
}

inline fl::Check check(State& s, fl::Index last) {
  meet(s, "check");
  const double right = static_cast<double>(s.ones.size()) + ones::changed(last);
  return fl::Check::of(s.result - right, 0, fl::text("the sum is %.17g, should be %.17g", s.result, right));
}

}  // namespace lone
