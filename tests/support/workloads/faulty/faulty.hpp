// faulty: the sum of n ones, by programs of which all but one misbehave. For tests of firstlight itself.
#pragma once

#include "../ones.hpp"

namespace faulty {

struct Params {
  fl::Index n = 1000;
  void declare(fl::Fields& fields) { fields.integer("n", n, "elements", 1, fl::Index{1} << 30, "how many ones"); }
};

using State = ones::Ones;

inline constexpr fl::About about{
    .title = "Misbehaviour on purpose",
    .cost = "n flops and 8 n bytes read",
    .verified = "the sum against n plus what the iteration changed",
    .tolerance = "exact",
};

inline constexpr fl::Metric metrics[] = {{"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"}};

inline void init(State& s, const Params& p, const fl::Team& team) { ones::init(s, p.n, team); }

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const double n = static_cast<double>(p.n) * team.ranks;
  return {.flops = n, .bytes = 8 * n, .working_set = 8 * static_cast<double>(p.n)};
}

using ones::check;
using ones::mutate_inputs;
using ones::poison;
using ones::sum;

}  // namespace faulty
