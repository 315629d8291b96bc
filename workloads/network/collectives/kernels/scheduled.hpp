// A variant that runs a schedule of ours: its file has only FL_SCHEDULED(ring).
#pragma once

#include <mpi.h>

#include <cstdio>

#include "collectives.hpp"
#include "firstlight/collectives/executor.hpp"

namespace collectives {

namespace ours = fl::collectives;

// What a rank sends is separate from what it receives, as in the calls of MPI.
inline bool apart(Kind kind) { return kind != Kind::broadcast && kind != Kind::alltoall && kind != Kind::barrier; }

inline ours::Schedule schedule_of(const ours::Algorithm& algorithm, Kind kind, int ranks, int root, fl::Index segments, fl::Index bytes) {
  const ours::Collective collective = *ours::collective_named(fl::option(kinds, static_cast<std::size_t>(kind)));
  return ours::schedule_for(algorithm, collective, ranks, root, static_cast<std::int32_t>(segments), static_cast<double>(bytes));
}

// Why the algorithm cannot do this, in its own words.
template <const ours::Algorithm& algorithm>
std::string refusal(const Params& p) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    schedule_of(algorithm, p.kind, ranks, static_cast<int>(p.root), p.segments, p.bytes);
  } catch (const ours::Refused& refused) {
    return fl::text("%s; change the parameters, or choose another variant", refused.what());
  }
  return "";
}

// `alter` lets the broken variants do what they are there for.
template <const ours::Algorithm& algorithm, void (*alter)(ours::Schedule&)>
class Scheduled {
 public:
  explicit Scheduled(const State& s) : execution_(schedule(s), channel_, {MPI_DOUBLE, MPI_SUM, s.words()}, apart(s.kind)) {}

  void step(State& s, fl::Index) {
    const bool reads = apart(s.kind) || s.is(Kind::alltoall);
    execution_.run(s.result.data(), reads ? s.own.data() : nullptr);
  }

 private:
  static ours::Schedule schedule(const State& s) {
    ours::Schedule made = schedule_of(algorithm, s.kind, s.team.ranks, s.root, s.segments, 8 * s.n);
    if (alter != nullptr) alter(made);
    return made;
  }

  ours::Channel channel_{MPI_COMM_WORLD};
  ours::Execution execution_;
};

}  // namespace collectives

// A variant that runs the schedule of an algorithm, which `alter` may spoil.
#define FL_SCHEDULED_AS(algorithm, alter, ...)                                             \
  using Scheduled = collectives::Scheduled<fl::collectives::algorithms::algorithm, alter>; \
  FL_VARIANT(collectives, Scheduled, .refuse = collectives::refusal<fl::collectives::algorithms::algorithm> __VA_OPT__(, ) __VA_ARGS__)
#define FL_SCHEDULED(algorithm)           \
  namespace fl::collectives::algorithms { \
  extern const Algorithm algorithm;       \
  }                                       \
  FL_SCHEDULED_AS(algorithm, nullptr)
