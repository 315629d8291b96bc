// faulty: the sum of n ones, by programs of which all but one misbehave. For tests of firstlight itself.
#pragma once

#include "firstlight/workload.hpp"

namespace faulty {

struct Params {
  fl::Index n = 1000;
  void declare(fl::Fields& fields) { fields.integer("n", n, "elements", 1, fl::Index{1} << 30, "how many ones"); }
};

struct State {
  fl::Array<double> ones;
  double result = 0;
  fl::Team team;
};

inline constexpr fl::About about{
    .title = "Misbehaviour on purpose",
    .cost = "n flops and 8 n bytes read",
    .verified = "the sum against n plus what the iteration changed",
    .tolerance = "exact",
};

inline constexpr fl::Metric metrics[] = {{"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"}};

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.team = team;
  s.ones = fl::Array<double>(p.n);
  for (double& one : s.ones) one = 1;
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const double n = static_cast<double>(p.n) * team.ranks;
  return {.flops = n, .bytes = 8 * n, .working_set = 8 * static_cast<double>(p.n)};
}

inline double changed(fl::Index iteration) { return static_cast<double>(iteration & 7); }

inline void mutate_inputs(State& s, fl::Index iteration) { s.ones[0] = 1 + changed(iteration); }

inline void poison(State& s) { fl::poison(&s.result, 1); }

inline void sum(State& s) {
  double result = 0;
  for (const double one : s.ones) result += one;
  s.result = result;
}

inline fl::Check check(State& s, fl::Index last) {
  const double right = static_cast<double>(s.ones.size()) + changed(last);
  const double error = s.result > right ? s.result - right : right - s.result;
  return fl::Check::of(error, 0, fl::text("the sum is %.17g, should be %.17g", s.result, right));
}

}  // namespace faulty
