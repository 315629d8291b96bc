// What the broken variants do to a schedule; each rank's program is altered as it is generated.
#pragma once

#include "scheduled.hpp"

namespace fl::collectives::algorithms {
extern const Algorithm dissemination, paced, recursive_doubling;
}

namespace collectives {

template <class Change>
void alter_programs(ours::Schedule& schedule, Change change) {
  schedule.program = [right = schedule.program, change](ours::Rank me, ours::Program& program) {
    right(me, program);
    change(program);
  };
}

}  // namespace collectives

#define FL_ALTERED(algorithm, alter) FL_SCHEDULED_AS(algorithm, alter, .traits = {.needs_partner = true})
