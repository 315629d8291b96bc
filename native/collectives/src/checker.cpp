#include "firstlight/collectives/checker.hpp"

#include <algorithm>
#include <limits>

#include "alike_rounds.hpp"
#include "outcome.hpp"
#include "program_check.hpp"

namespace fl::collectives {

namespace {

// Contents that small are replayed exactly to explain what is wrong.
constexpr std::int64_t explained = 1 << 16;
// Where rank 0 may stand for all, so many chunks and operations are replayed nevertheless.
constexpr std::int64_t replayed_whole = 1 << 20;
constexpr std::int64_t bytes_an_operation = 120;

std::string impossible(const Schedule& s) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (s.ranks < 1 || s.chunks < 0 || s.scratch < 0 || s.chunks + s.scratch > most)
    return "the number of ranks or of chunks is out of range";
  const bool blocks =
      s.collective == Collective::allgather || s.collective == Collective::alltoall || s.collective == Collective::reduce_scatter;
  if (blocks && (s.chunks == 0 || s.chunks % s.ranks != 0)) return "the number of chunks is not a multiple of the number of ranks";
  if (s.root < 0 || s.root >= s.ranks) return "the root is not a rank";
  return "";
}

// Bytes of all ranks' fingerprints.
std::int64_t contents(const Schedule& s) {
  return s.collective == Collective::other ? 0 : std::int64_t{16} * s.ranks * (s.chunks + s.scratch);
}

void count(const Program& program, std::int64_t ranks, Verdict& v) {
  for (const Operation& o : program.operations()) {
    v.operations += ranks;
    if (o.kind == Kind::compute) continue;
    v.rounds = std::max(v.rounds, o.round + o.range.segments);
    if (o.kind == Kind::send) v.messages += ranks, v.segments_sent += ranks * o.range.segments;
  }
}

// Programs of all ranks into one graph. What is wrong with one alone, in words.
std::string gather(const Schedule& s, std::int64_t memory, Graph& graph, Verdict& v) {
  ProgramCheck alone(s);
  Program program;
  std::string race;
  const std::int64_t room = memory - contents(s);
  for (Rank rank = 0; rank < s.ranks; ++rank) {
    program.clear();
    s.program(rank, program);
    if (std::string why = alone.invalid(rank, program); !why.empty()) return why;
    if (!takes_part(s, rank) && !program.operations().empty()) return "rank " + std::to_string(rank) + " is missing, but has operations";
    if (race.empty()) race = alone.race(rank, program);
    count(program, 1, v);
    if (room < v.operations * bytes_an_operation)
      throw Refused("too large to check: " + std::to_string(rank + 1) + " ranks of " + std::to_string(s.ranks) + " fill the memory");
    graph.append(rank, program);
  }
  v.race_free = race.empty();
  v.why = race;
  return "";
}

// What remains when the programs are known to be valid.
void judge(const Schedule& s, Graph& graph, Verdict& v) {
  if (std::string why = graph.match(); !why.empty()) {
    v.why = why;
    return;
  }
  Replay<Fingerprint> replay(s, graph);
  replay.run();
  v.depth = replay.depth();
  v.in_rounds = replay.in_rounds();
  std::string why = replay.stuck();
  v.deadlock_free = why.empty();
  const bool barrier = s.collective == Collective::barrier;
  if (why.empty()) why = barrier ? wrong_barrier(s, graph, replay.events()) : wrong_data(s, replay);
  v.correct = why.empty();
  if (v.deadlock_free && !v.correct && !barrier && s.ranks * (s.chunks + s.scratch) * s.ranks <= explained) {
    Replay<Exact> exact(s, graph);
    exact.run();
    why = wrong_data(s, exact);
  }
  if (!why.empty()) v.why = why;
}

// Rank 0 stands for all, which are known to be alike.
Verdict judge_one(const Schedule& s, const Translation& translation) {
  Verdict v{.by_symmetry = true};
  ProgramCheck alone(s);
  Program program;
  s.program(0, program);
  count(program, s.ranks, v);
  v.why = alone.invalid(0, program);
  if (!v.why.empty()) return v;
  Graph graph;
  v.why = alone.race(0, program);
  v.race_free = v.why.empty();
  graph.append(0, program);
  std::string why = graph.match(&translation);
  if (why.empty()) {
    Replay<Single> replay(s, graph, &translation);
    replay.run();
    v.depth = replay.depth();
    v.in_rounds = replay.in_rounds();
    why = replay.stuck();
    v.deadlock_free = why.empty();
    if (why.empty())
      why = s.collective == Collective::barrier ? wrong_barrier(s, graph, replay.events(), translation) : wrong_data(s, replay);
    v.correct = why.empty();
  }
  if (!why.empty()) v.why = why;
  return v;
}

// Whether one rank can stand for all: contents then are single contributions, of blocks that move along.
bool one_suffices(const Schedule& s) {
  const bool single = s.collective == Collective::allgather || s.collective == Collective::alltoall || s.collective == Collective::barrier;
  return s.symmetry != Symmetry::none && single && s.missing.empty() && s.chunks % s.ranks == 0;
}

}  // namespace

Verdict check(const Schedule& s, Thoroughness thoroughness, std::int64_t memory) {
  Verdict v;
  v.why = impossible(s);
  if (!v.why.empty()) return v;
  if (std::string why = broken_rounds(s); !why.empty()) {
    v.why = "claims rounds that it lacks: " + why;
    return v;
  }
  if (s.symmetry != Symmetry::none) {
    const Translation translation(s);
    v.why = broken_symmetry(s, translation);
    if (!v.why.empty()) {
      v.why = "claims a symmetry that it lacks: " + v.why;
      return v;
    }
    Program program;
    s.program(0, program);
    const auto size = static_cast<std::int64_t>(program.operations().size());
    const bool large = thoroughness == Thoroughness::one_rank ||
                       (thoroughness == Thoroughness::automatic && s.ranks * (size + s.chunks + s.scratch) > replayed_whole);
    if (large && one_suffices(s)) return judge_one(s, translation);
  }
  if (contents(s) > memory) throw Refused("too large to check: the contents of all ranks' chunks");
  Graph graph;
  if (std::string why = gather(s, memory, graph, v); !why.empty()) {
    v.race_free = false;
    v.why = why;
    return v;
  }
  judge(s, graph, v);
  return v;
}

}  // namespace fl::collectives
