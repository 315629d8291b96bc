// collectives: one collective operation of MPI, by the library's own call or by a schedule of ours.
//
// Whole numbers in doubles, so that sums are exact in any order and have one bit pattern. In the timed loop the first and the last
// word of blocks follow the iteration, of up to 16 blocks in each step, and one more, somewhere; the check refreshes everything.
#pragma once

#include <unistd.h>

#include <algorithm>

#include "firstlight/alone.hpp"
#include "firstlight/error_summary.hpp"
#include "firstlight/exact.hpp"
#include "firstlight/input_mutator.hpp"
#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"

namespace collectives {

namespace exact = fl::exact;

enum class Kind { broadcast, reduce, allreduce, allgather, reduce_scatter, alltoall, barrier };

inline constexpr const char* kinds = "broadcast|reduce|allreduce|allgather|reduce_scatter|alltoall|barrier";  // in the order of Kind

struct Params {
  Kind kind = Kind::allreduce;
  fl::Index bytes = 8;
  fl::Index segments = 0;
  fl::Index root = 0;
  void declare(fl::Fields& fields) {
    fields.choice("collective", kind, kinds, "the collective operation");
    fields.integer("bytes", bytes, "bytes", 0, fl::Index{1} << 30,
                   "size of the whole message (broadcast, reduce, allreduce) or of one block (allgather, "
                   "reduce_scatter, alltoall); 8, 16, ...");
    fields.integer("segments", segments, "segments", 0, 4096, "segments per message of a pipelined algorithm; 0: automatic");
    fields.integer("root", root, "rank", 0, 1 << 24, "root rank of broadcast and reduce");
  }
};

struct Traits {
  bool needs_partner = false;  // it has no meaning with one process
};

inline constexpr fl::Index guard = 8;  // doubles behind the result that no code may write

struct State {
  fl::Team team;
  Kind kind = Kind::barrier;
  int root = 0;
  fl::Index segments = 0;
  fl::Index n = 0;            // words of the message, or of one block
  fl::Index blocks = 1;       // that `own` consists of
  fl::Array<double> own;      // what this rank sends
  fl::Array<double> result;   // room for what it receives, and the guard
  fl::InputMutator changing;  // of what a rank sends, at the same places on all
  fl::Index filled = -1;      // the iteration that all words belong to that did not change since
  fl::Index rounds = 0;       // of checks so far
  fl::Index touched = -1;     // the last iteration
  fl::Index since = -1;       // the first iteration after all words were filled; negative: there is none yet

  bool is(Kind other) const { return kind == other; }
  bool roots() const { return team.rank == root; }
  fl::Index words() const { return result.size() - guard; }  // that schedules call the data of a rank
};

inline constexpr fl::About about{
    .title = "Collective operations",
    .cost = "One operation. Its rate counts the bytes that one rank has afterwards (reduce: contributes), independent of the algorithm.",
    .verified =
        "Every word on every rank, compared bit by bit with the closed form; then two operations on fresh data over a poisoned "
        "result. No byte beyond the result may change. Barrier: no rank may leave before the last one has entered; each rank is late "
        "once.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {
    {"gap", "us", "operations", "time", 1e6, "lower"},
    {"latency", "us", "latency", "value", 1e6, "lower"},
    {"rate", "GB/s", "flow", "rate", 1e-9, "higher"},
};

inline bool blockwise(Kind kind) { return kind == Kind::allgather || kind == Kind::reduce_scatter || kind == Kind::alltoall; }

// Words that a schedule calls the data of a rank.
inline fl::Index words(const Params& p, int ranks) {
  if (p.kind == Kind::barrier) return 0;
  return p.bytes / 8 * (blockwise(p.kind) ? ranks : 1);
}

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  if (p.bytes % 8 != 0) return fl::text("a message needs whole words of 8 bytes; bytes=%lld given", p.bytes);
  if (p.kind == Kind::barrier && p.bytes != 0) return "a barrier has no data, so it needs bytes=0";
  if (p.root >= team.ranks) return fl::text("root=%lld needs more ranks than %d", p.root, team.ranks);
  if (words(p, team.ranks) >= (fl::Index{1} << 31)) return "all blocks together must have fewer than 2^31 words";
  if (traits.needs_partner && team.ranks < 2) return "this variant needs at least 2 ranks; start it with mpiexec -n 2";
  return "";
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const double buffer_bytes = 8 * static_cast<double>(words(p, team.ranks));
  return {.operations = 1, .flow = team.ranks > 1 ? buffer_bytes : 0, .working_set = 2 * buffer_bytes};
}

// --- what a rank gives -------------------------------------------------------------------------------------------------

inline double value(int rank, fl::Index i, fl::Index iteration) { return exact::value(exact::weight_of(rank), i, iteration); }

// The buffer that an operation starts from: a broadcast's is the one it fills.
inline double* given(State& s) { return s.is(Kind::broadcast) ? s.result.data() : s.own.data(); }

// --- in the timed loop -------------------------------------------------------------------------------------------------

// A step changes so many blocks, alternately where there are more: the cost must not grow with the ranks.
inline constexpr fl::Index blocks_a_step = 16;

// The last iteration up to `last` that changes a block; negative where none does.
inline fl::Index changed_in(fl::Index blocks, fl::Index block, fl::Index last) {
  if (blocks <= blocks_a_step) return last;
  const fl::Index changes = (last + 1) * blocks_a_step, later = (changes - 1 - block) % blocks;
  return changes <= block ? -1 : (changes - 1 - later) / blocks_a_step;
}

// The iteration that the first and the last word of a block belong to after the step `last`.
inline fl::Index age_of(const State& s, fl::Index block, fl::Index last) {
  const fl::Index changed = changed_in(s.blocks, block, last);
  return changed >= s.since ? changed : s.filled;
}

// Returns the same for word i of a block.
inline fl::Index age_of_word(const State& s, const fl::ChangeLog& ages, fl::Index i, fl::Index block, fl::Index last) {
  const fl::Index changed = ages.of(i, -1), somewhere = changed >= s.since ? changed : -1;
  const fl::Index of_end = i % s.n == 0 || i % s.n == s.n - 1 ? age_of(s, block, last) : s.filled;
  return of_end == s.filled && somewhere >= 0 ? somewhere : std::max(of_end, somewhere);
}

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.touched = iteration;
  if (s.since < 0) s.since = iteration;
  if (s.n == 0 || (s.is(Kind::broadcast) && !s.roots())) return;
  double* const words = given(s);
  const fl::Index many = std::min(s.blocks, blocks_a_step);
  fl::Index block = s.blocks <= blocks_a_step ? 0 : iteration % s.blocks * blocks_a_step % s.blocks;
  for (fl::Index k = 0; k < many; ++k) {
    for (const fl::Index i : {block * s.n, block * s.n + s.n - 1}) words[i] = value(s.team.rank, i, iteration);
    if (++block == s.blocks) block = 0;
  }
  s.changing.mutate_inputs(iteration, [&](fl::Index i) { words[i] = value(s.team.rank, i, iteration); });
}

inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  return s.changing.mutate_between_batches(next, [&](fl::Index iteration) { mutate_inputs(s, iteration); });
}

// --- outside of it -----------------------------------------------------------------------------------------------------

inline void fill(State& s) {
  s.since = -1;
  if (s.is(Kind::broadcast) && !s.roots()) return;
  double* const words = given(s);
  for (fl::Index i = 0; i < s.blocks * s.n; ++i) words[i] = value(s.team.rank, i, s.filled);
}

inline void poison(State& s) {
  const bool keeps = s.is(Kind::broadcast) && s.roots();
  fl::poison(s.result.data() + (keeps ? s.n : 0), s.result.size() - (keeps ? s.n : 0));
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.team = team;
  s.kind = p.kind;
  s.root = static_cast<int>(p.root);
  s.segments = p.segments;
  s.n = p.bytes / 8;
  s.blocks = s.is(Kind::reduce_scatter) || s.is(Kind::alltoall) ? team.ranks : 1;
  s.changing = fl::InputMutator(s.blocks * s.n, fl::InputMutator::most, true);
  s.own = fl::Array<double>(std::max<fl::Index>(s.blocks * s.n, 1));
  s.result = fl::Array<double>(words(p, team.ranks) + guard);
  fl::first_touch(&s);
  fill(s);
  poison(s);
}

// --- the check ---------------------------------------------------------------------------------------------------------

// What word i of the result has to be.
class Expected {
 public:
  Expected(const State& s, fl::Index iteration) : s_(s), iteration_(iteration), ages_(s.changing, iteration), ranks_(s.team.ranks) {}
  // Whether word i is prescribed at all, and not only room that an operation may use.
  bool prescribed(fl::Index i) const {
    if (s_.is(Kind::reduce)) return s_.roots();
    return !s_.is(Kind::reduce_scatter) || i / s_.n == s_.team.rank;
  }
  double operator()(fl::Index i) const {
    if (s_.is(Kind::broadcast)) return of(s_.root, i);
    if (s_.is(Kind::allgather)) return of(static_cast<int>(i / s_.n), i % s_.n);
    if (s_.is(Kind::alltoall)) return of(static_cast<int>(i / s_.n), s_.team.rank * s_.n + i % s_.n);
    return ranks_.sum(i, age(i));
  }

 private:
  // Returns the age of word i of what a rank contributes. If a rank contributes a block for each rank, a rank receives the block of its own
  // number.
  fl::Index age(fl::Index i) const { return age_of_word(s_, ages_, i, s_.blocks > 1 ? s_.team.rank : 0, iteration_); }
  double of(int rank, fl::Index i) const { return value(rank, i, age(i)); }

  const State& s_;
  fl::Index iteration_;
  fl::ChangeLog ages_;
  exact::Ranks ranks_;
};

inline void wrong_word(fl::ErrorSummary& damage, fl::Index i, const char* means, double found, double expected) {
  damage.add([&] { return fl::text("word %lld %s is %.17g, should be %.17g", i, means, found, expected); });
}

inline void inspect(State& s, fl::Index iteration, fl::ErrorSummary& damage) {
  const Expected expected(s, iteration);
  for (fl::Index i = 0; i < s.words(); ++i)
    if (expected.prescribed(i) && exact::bits(s.result[i]) != exact::bits(expected(i)))
      wrong_word(damage, i, "of the result", s.result[i], expected(i));
  for (fl::Index i = 0; i < guard; ++i)
    if (exact::bits(s.result[s.words() + i]) != fl::poison_bits) wrong_word(damage, i, "after the result", s.result[s.words() + i], 0);
}

inline void fresh_round(State& s, fl::ErrorSummary& damage) {
  fl::fresh_round(s, damage);
  s.since = -1;  // what follows is timed, and begins to count anew
}

// One rank comes late; no rank may leave before it has come. On one node all clocks are one; on several, durations are compared.
inline void late_round(State& s, int late, fl::ErrorSummary& damage) {
  constexpr double delay = 2e-3;
  fl::barrier();
  const double start = fl::clock_seconds();
  if (s.team.rank == late) usleep(static_cast<useconds_t>(1e6 * delay));
  const double came = fl::clock_seconds();
  fl::run_steps(s.rounds++, 1);
  const double left = fl::clock_seconds();
  const double last = fl::total(s.team.rank == late ? came : 0);
  const double early = s.team.nodes == 1 ? last - left : delay / 2 - (left - start);
  if (early <= 0) return;
  damage.add([&] { return fl::text("left the barrier %.0f us before rank %d arrived", 1e6 * early, late); });
}

inline void observe(State& s, fl::Observations& seen) { seen.value("latency", fl::alone(seen, s.team, s.touched)); }

inline fl::Check check(State& s, fl::Index last) {
  constexpr int most_late = 8;
  fl::ErrorSummary damage;
  if (s.is(Kind::barrier)) {
    for (int k = 0; k < std::min(s.team.ranks, most_late); ++k) late_round(s, (k + 1) % s.team.ranks, damage);
    return damage.check(fl::text("none of %d ranks left before the last rank arrived", s.team.ranks));
  }
  inspect(s, last, damage);
  for (int round = 0; round < 2; ++round) fresh_round(s, damage);
  return damage.check(fl::text("%lld words on each of %d ranks are exact", s.words(), s.team.ranks));
}

}  // namespace collectives
