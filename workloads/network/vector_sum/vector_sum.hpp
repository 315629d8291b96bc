// vector_sum: every process has n doubles; afterwards every process has their sum over all processes (R1, "Cube_DoD").
//
// Whole numbers, so that the sum is exact in any order: the result has one bit pattern, on all ranks. In the timed loop the first and
// the last element follow the iteration, and one more, somewhere; the check refreshes whole vectors.
#pragma once

#include <cmath>

#include "firstlight/error_summary.hpp"
#include "firstlight/exact.hpp"
#include "firstlight/input_mutator.hpp"
#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"

namespace vector_sum {

namespace exact = fl::exact;

struct Params {
  fl::Index n = 65536;
  void declare(fl::Fields& fields) { fields.integer("n", n, "elements", 1, fl::Index{1} << 30, "length of the vector, in doubles"); }
};

struct Traits {
  bool power_of_two = false;   // its route exists for such numbers of processes only
  bool needs_partner = false;  // it has no meaning with one process
};

inline constexpr fl::Index guard = 8;  // doubles behind the result that no code may write

struct State {
  fl::Team team;
  fl::Index n = 0;
  fl::Array<double> own;      // this process's vector
  fl::Array<double> result;   // of all processes, and the guard
  fl::Array<double> buffer;   // for what arrives, where a variant needs one
  exact::Weight weight;       // of this process
  fl::InputMutator changing;  // at the same places on all processes
  fl::Index filled = -1;      // the iteration that all elements belong to that did not change since
  fl::Index rounds = 0;       // of checks so far
};

inline constexpr fl::About about{
    .title = "Global vector sum",
    .cost =
        "As R1 counts, independent of the algorithm: 2 log2(p) L MB into and out of a process, with L = 8 n / 2^20. That is the "
        "traffic of recursive doubling; for other variants the rate is another form of the time. At least (p - 1) n additions and 16 "
        "p n bytes of memory traffic.",
    .verified =
        "Every word of the result on every rank, compared bit by bit with the closed form; then two sums of fresh vectors over a "
        "poisoned result. No byte beyond it may change.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {
    {"rate", "Mbit/s", "flow", "rate", 8 / 0x1p20, "higher"},
    {"time", "us", "operations", "time", 1e6, "lower"},
};

inline bool is_power_of_two(int p) { return (p & (p - 1)) == 0; }

inline std::string refuse(const Params&, const fl::Team& team, const Traits& traits) {
  if (traits.power_of_two && !is_power_of_two(team.ranks))
    return fl::text("the hypercube needs a number of ranks that is a power of two; %d given; start it with mpiexec -n 2, 4, 8 ...",
                    team.ranks);
  if (traits.needs_partner && team.ranks < 2) return "this variant needs at least 2 ranks; start it with mpiexec -n 2";
  return "";
}

// R1: bytes into and out of one process while n doubles are summed over p processes along the hypercube.
inline double flow(double n, int p) { return 2 * std::log2(p) * 8 * n; }

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const auto n = static_cast<double>(p.n);
  return {.flops = (team.ranks - 1) * n, .bytes = 16 * n * team.ranks, .operations = 1, .flow = flow(n, team.ranks), .working_set = 24 * n};
}

// --- in the timed loop -------------------------------------------------------------------------------------------------

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.own[0] = exact::value(s.weight, 0, iteration);
  s.own[s.n - 1] = exact::value(s.weight, s.n - 1, iteration);
  s.changing.mutate_inputs(iteration, [&](fl::Index i) { s.own[i] = exact::value(s.weight, i, iteration); });
}

inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  return s.changing.mutate_between_batches(next, [&](fl::Index iteration) { mutate_inputs(s, iteration); });
}

// --- outside of it -----------------------------------------------------------------------------------------------------

inline void fill(State& s) {
  for (fl::Index i = 0; i < s.n; ++i) s.own[i] = exact::value(s.weight, i, s.filled);
}

inline void poison(State& s) { fl::poison(s.result.data(), s.result.size()); }

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.team = team;
  s.n = p.n;
  s.weight = exact::weight_of(team.rank);
  s.changing = fl::InputMutator(p.n, fl::InputMutator::most, true);
  s.own = fl::Array<double>(p.n);
  s.result = fl::Array<double>(p.n + guard);
  fl::first_touch(&s);
  fill(s);
  poison(s);
}

// --- the check ---------------------------------------------------------------------------------------------------------

inline void inspect(State& s, fl::Index iteration, fl::ErrorSummary& damage) {
  const exact::Ranks ranks(s.team.ranks);
  const fl::ChangeLog ages(s.changing, iteration);
  for (fl::Index i = 0; i < s.n + guard; ++i) {
    const bool stamped = i == 0 || i == s.n - 1;
    const double sum = ranks.sum(i, stamped ? iteration : ages.of(i, s.filled));
    const bool behind = i >= s.n;
    if (exact::bits(s.result[i]) == (behind ? fl::poison_bits : exact::bits(sum))) continue;
    damage.add([&] {
      return behind ? fl::text("the program wrote word %lld after the %lld words of the result", i - s.n, s.n)
                    : fl::text("element %lld of %lld, summed over %d processes, is %.17g, should be %.17g", i, s.n, s.team.ranks,
                               s.result[i], sum);
    });
  }
}

inline fl::Check check(State& s, fl::Index last) {
  fl::ErrorSummary damage;
  inspect(s, last, damage);
  for (int round = 0; round < 2; ++round) fl::fresh_round(s, damage);
  return damage.check(fl::text("%lld sums over %d processes are exact on every rank", s.n, s.team.ranks));
}

}  // namespace vector_sum
