// One case from set-up to its last check.
#pragma once

#include <string>

#include "arguments.hpp"
#include "counters.hpp"
#include "recorder.hpp"

namespace fl {

// Why no variant of the workload takes any of these values of its parameters, as far as that can be told before MPI is started; empty where
// nothing is against some of them. Throws UsageError, too.
std::string wrong_values(const Arguments& arguments);

struct PlannedCase {
  Assignment values;
  std::string refusal;  // why some rank cannot run it, in whole words on rank 0; empty on every rank where all can
};

struct PlannedCases {
  std::string refusal;            // why the program runs none of them, likewise
  std::vector<PlannedCase> each;  // of those that differ in parameters without meaning only one
};

// What is to run with these ranks and threads, before anything is measured. Collective.
PlannedCases planned_cases(const Arguments& arguments, const Team& team);

// Records that a case is not run, and why.
void refuse_case(Recorder& recorder, const Arguments& arguments, const Team& team, int number, const PlannedCase& planned);

// Poison, warm up, time, check, count. Returns whether every check was ok; a case whose first check fails is not timed.
bool run_case(Recorder& recorder, Counters& counters, const Arguments& arguments, const Team& team, int number,
              const Assignment& assignment);

}  // namespace fl
