// What the broken variants do to a schedule; each rank's program is altered as it is generated.
#pragma once

#include "scheduled.hpp"

namespace collectives {

template <class Change>
void alter_programs(ours::Schedule& schedule, Change change) {
  schedule.program = [right = schedule.program, change](ours::Rank me, ours::Program& program) {
    right(me, program);
    change(program);
  };
}

// One rank alone cannot miss a message.
inline std::string alone(const Params&) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks > 1 ? "" : "this variant needs 2 ranks at least; start it with mpiexec -n 2";
}

template <const ours::Algorithm& algorithm>
std::string altered_refusal(const Params& p) {
  const std::string why = alone(p);
  return why.empty() ? refusal<algorithm>(p) : why;
}

}  // namespace collectives

#define FL_ALTERED(algorithm, alter) FL_SCHEDULED_AS(algorithm, altered_refusal, alter)
