// One case from set-up to its last check.
#pragma once

#include <string>

#include "arguments.hpp"
#include "counters.hpp"
#include "recorder.hpp"

namespace fl {

// Whether no launch follows: the folders of targets are not known then, and values are judged without them.
extern bool values_only;

// Returns why no variant of the workload accepts any of these parameter values, as far as can be decided before MPI is started; empty if
// nothing excludes some of them. May also throw UsageError.
std::string wrong_values(const Arguments& arguments);

struct PlannedCase {
  Assignment values;
  std::string refusal;  // why some rank cannot run it, as full text on rank 0; empty on every rank if all can
};

struct PlannedCases {
  std::string refusal;            // why the program runs none of them, likewise
  std::vector<PlannedCase> each;  // one of the cases that differ only in parameters without meaning
};

// Returns what to run with these ranks and threads, before anything is measured. Collective.
PlannedCases planned_cases(const Arguments& arguments, const Team& team);

// Records that a case is not run, and the reason.
void refuse_case(Recorder& recorder, const Arguments& arguments, const Team& team, int number, const PlannedCase& planned);

// Poison, warm up, time, check, count. Returns whether every check was ok; a case whose first check fails is not timed.
bool run_case(Recorder& recorder, Counters& counters, const Arguments& arguments, const Team& team, int number,
              const Assignment& assignment);

}  // namespace fl
