// One case from set-up to its last check.
#pragma once

#include <string>

#include "arguments.hpp"
#include "counters.hpp"
#include "recorder.hpp"

namespace fl {

// Why no variant of the workload takes these values of its parameters, as far as that can be told before MPI is started; empty where
// nothing is against them. Throws UsageError, too.
std::string wrong_values(const Arguments& arguments);

// Why some case cannot run on some rank with these ranks and threads, before anything is measured; empty where all can. Collective: not
// empty on every rank or on none, and in whole words on rank 0.
std::string refusal_of_any(const Arguments& arguments, const Team& team);

// Poison, warm up, time, check, count. Returns whether every check was ok; a case whose first check fails is not timed.
bool run_case(Recorder& recorder, Counters& counters, const Arguments& arguments, const Team& team, int number,
              const Assignment& assignment);

}  // namespace fl
