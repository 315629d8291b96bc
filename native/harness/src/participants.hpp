// Which threads of this process take part in steps. A leftover thread limit, or a variant that asks for fewer, gives a smaller team without
// an error, and its results are right.
#pragma once

#include <ctime>
#include <map>
#include <string>

#include "firstlight/workload.hpp"

namespace fl {

// Why a parallel region of this rank has fewer threads than the team; empty where it has as many, or is not to have several. Before any
// other parallel region.
std::string lacks_threads(const Team& team);

// Of the steps between the last begin() and end(): the threads that ran meanwhile.
class Participants {
 public:
  explicit Participants(const Team& team);
  void begin();
  void end();
  Check judged(const Check& result) const;  // a right result of fewer threads than the team's is wrong

 private:
  int threads_;
  bool visible_;  // several threads, whose CPU clocks tell who ran
  int seen_ = 0;
  std::map<int, double> before_;  // CPU seconds of each thread
};

}  // namespace fl
