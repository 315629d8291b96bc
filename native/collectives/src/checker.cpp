#include "firstlight/collectives/checker.hpp"

#include <algorithm>
#include <limits>

#include "outcome.hpp"
#include "program_check.hpp"

namespace fl::collectives {

namespace {

// Contents that small are replayed exactly to explain what is wrong.
constexpr std::int64_t explained = 1 << 16;

std::string impossible(const Schedule& s) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (s.ranks < 1 || s.chunks < 0 || s.scratch < 0 || s.chunks + s.scratch > most) return "numbers of ranks or chunks that cannot be";
  const bool blocks =
      s.collective == Collective::allgather || s.collective == Collective::alltoall || s.collective == Collective::reduce_scatter;
  if (blocks && (s.chunks == 0 || s.chunks % s.ranks != 0)) return "chunks are no multiple of the ranks";
  if (s.root < 0 || s.root >= s.ranks) return "the root is no rank";
  return "";
}

// Programs of all ranks into one graph. What is wrong with one alone, in words.
std::string gather(const Schedule& s, std::int64_t memory, Graph& graph, Verdict& v) {
  ProgramCheck alone(s);
  Program program;
  std::string race;
  const std::int64_t room = memory - std::int64_t{16} * s.ranks * (s.chunks + s.scratch);
  for (Rank rank = 0; rank < s.ranks; ++rank) {
    program.clear();
    s.program(rank, program);
    if (std::string why = alone.invalid(rank, program); !why.empty()) return why;
    if (!takes_part(s, rank) && !program.operations().empty()) return "rank " + std::to_string(rank) + " is missing, but has operations";
    if (race.empty()) race = alone.race(rank, program);
    for (const Operation& o : program.operations()) {
      v.operations += 1;
      if (o.kind == Kind::compute) continue;
      v.rounds = std::max(v.rounds, o.round + o.range.segments);
      if (o.kind == Kind::send) v.messages += 1, v.segments_sent += o.range.segments;
    }
    graph.append(rank, program);
    if (room < v.operations * 120)
      throw Refused("too large to check: " + std::to_string(rank + 1) + " ranks of " + std::to_string(s.ranks) + " fill the memory");
  }
  v.race_free = race.empty();
  v.why = race;
  return "";
}

}  // namespace

Verdict check(const Schedule& s, std::int64_t memory) {
  Verdict v;
  v.why = impossible(s);
  if (!v.why.empty()) return v;
  Graph graph;
  if (std::string why = gather(s, memory, graph, v); !why.empty()) {
    v.race_free = false;
    v.why = why;
    return v;
  }
  if (std::string why = graph.match(); !why.empty()) {
    v.why = why;
    return v;
  }
  Replay<Fingerprint> replay(s, graph);
  replay.run();
  v.depth = replay.depth();
  v.in_rounds = replay.in_rounds();
  std::string why = replay.stuck();
  v.deadlock_free = why.empty();
  if (why.empty()) why = s.collective == Collective::barrier ? wrong_barrier(s, graph, replay.events()) : wrong_data(s, replay);
  v.correct = why.empty();
  if (v.deadlock_free && !v.correct && s.ranks * (s.chunks + s.scratch) * s.ranks <= explained && s.collective != Collective::barrier) {
    Replay<Exact> exact(s, graph);
    exact.run();
    why = wrong_data(s, exact);
  }
  if (!why.empty()) v.why = why;
  return v;
}

}  // namespace fl::collectives
