// A variant by a schedule of ours: FL_SCHEDULED(ring) is all that its file says.
#pragma once

#include <mpi.h>

#include <cstdio>

#include "collectives.hpp"
#include "firstlight/collectives/executor.hpp"

namespace collectives {

namespace ours = fl::collectives;

struct Plan {
  ours::Channel channel{MPI_COMM_WORLD};
  ours::Execution execution;

  Plan(const ours::Schedule& schedule, fl::Index words, bool apart) : execution(schedule, channel, {MPI_DOUBLE, MPI_SUM, words}, apart) {}
};

// What a rank gives lies apart from what it gets, as in the calls of MPI.
inline bool apart(Kind kind) { return kind != Kind::broadcast && kind != Kind::alltoall && kind != Kind::barrier; }

inline ours::Schedule schedule_of(const ours::Algorithm& algorithm, Kind kind, int ranks, int root, fl::Index segments, fl::Index bytes) {
  const ours::Collective collective = *ours::collective_named(kinds[static_cast<std::size_t>(kind)]);
  return ours::schedule_for(algorithm, collective, ranks, root, static_cast<std::int32_t>(segments), static_cast<double>(bytes));
}

// Why the algorithm cannot do this, in its own words.
template <const ours::Algorithm& algorithm>
std::string refusal(const Params& p) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    schedule_of(algorithm, p.kind(), ranks, static_cast<int>(p.root), p.segments, p.bytes);
  } catch (const ours::Refused& refused) {
    return fl::text("%s; choose what it needs, or another variant", refused.what());
  }
  return "";
}

// `alter` lets the broken variants do what they are there for.
template <const ours::Algorithm& algorithm, void (*alter)(ours::Schedule&)>
void prepare(State& s) {
  ours::Schedule schedule = schedule_of(algorithm, s.kind, s.team.ranks, s.root, s.segments, 8 * s.n);
  if (alter != nullptr) alter(schedule);
  s.plan = new Plan(schedule, s.words(), apart(s.kind));
}

inline void release(State& s) {
  delete static_cast<Plan*>(s.plan);
  s.plan = nullptr;
}

inline void step(State& s, fl::Index) {
  double* const own = s.own.data();
  double* const result = s.result.data();
  const bool reads = apart(s.kind) || s.is(Kind::alltoall);
  static_cast<Plan*>(s.plan)->execution.run(result, reads ? own : nullptr);
}

}  // namespace collectives

// A variant that runs the schedule of an algorithm: `refusal` says why it cannot, `alter` may spoil it.
#define FL_SCHEDULED_AS(algorithm, refusal, alter)                                                                 \
  namespace fl::collectives::algorithms {                                                                          \
  extern const Algorithm algorithm;                                                                                \
  }                                                                                                                \
  FL_VARIANT(collectives, collectives::step,                                                                       \
             .refuse = FL_REFUSE(collectives, collectives::refusal<fl::collectives::algorithms::algorithm>),       \
             .setup = FL_HOOK(collectives, (collectives::prepare<fl::collectives::algorithms::algorithm, alter>)), \
             .finish = FL_HOOK(collectives, collectives::release))
#define FL_SCHEDULED(algorithm) FL_SCHEDULED_AS(algorithm, refusal, nullptr)
