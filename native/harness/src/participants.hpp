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

// Runs `call` in each thread of a parallel region of the variant's runtime. The threads do not wait for another one: while they wait they use
// processor time, some for 200 ms, and look like threads that take part in samples.
void in_each_thread(int threads, void (*call)(void*), void* data);

// The threads that ran in samples, each between begin() and end(). A sample of fewer than the team's is short.
class Participants {
 public:
  explicit Participants(const Team& team);
  void begin();
  void end();
  // A right result of fewer threads than the team's is wrong: where most samples were short, for a busy machine may disturb some.
  Check judged(const Check& result) const;

 private:
  int threads_;
  bool visible_;  // several threads, whose CPU clocks tell who ran
  int samples_ = 0, short_ = 0;
  int seen_ = 0;                  // the most threads of a short sample
  std::map<int, double> before_;  // CPU seconds of each thread
  double process_before_ = 0;     // and of the process
};

}  // namespace fl
