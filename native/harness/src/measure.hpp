// One case from set-up to its last check.
#pragma once

#include "arguments.hpp"
#include "counters.hpp"
#include "recorder.hpp"

namespace fl {

// Throws UsageError if any case cannot run with these ranks and threads, before anything is measured.
void refuse_early(const Arguments& arguments, const Team& team);

// Poison, warm up, time, check, count. Returns whether every check was ok; a case whose first check fails is not timed.
bool run_case(Recorder& recorder, Counters& counters, const Arguments& arguments, const Team& team, int number,
              const Assignment& assignment);

}  // namespace fl
