// Observes which threads of this process participate in steps. A leftover thread limit, or a variant that requests fewer threads, creates a
// smaller team without an error, and its results are correct.
#pragma once

#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "firstlight/workload.hpp"

namespace fl {

// Returns why a parallel region of this rank has fewer threads than the team; empty if it has as many, or if it is to have one. Call it
// before any other parallel region.
std::string lacks_threads(const Team& team);

// Runs `call` in each thread of a parallel region of the variant's runtime. Afterwards the threads do not wait for another region: while
// they wait they use processor time, some for 200 ms, and look like threads that participate in samples.
void in_each_thread(int threads, void (*call)(void*), void* data);

// The CPU clock of this process, up to date. The kernel adds the time of other threads that are running to it only at their next tick, 1 to
// 10 ms later, so the clock itself would lack their part of a short sample.
class ProcessClock {
 public:
  // Finds the threads whose time is to be added; others count up to their last tick.
  void find_threads();
  double seconds() const;

 private:
  std::vector<clockid_t> threads_;
};

// Counts the threads that ran in samples, each between begin() and end(). A sample with fewer threads than the team is short.
class Participants {
 public:
  explicit Participants(const Team& team);
  void begin();
  void end();
  // Rejects a correct result if most samples were short. A few short samples are accepted, because a busy machine may disturb some.
  Check judged(const Check& result) const;

 private:
  int threads_;
  bool visible_;  // there are several threads, and their CPU clocks show which ran
  int samples_ = 0, short_ = 0;
  int seen_ = 0;                  // the largest number of threads in a short sample
  std::map<int, double> before_;  // CPU seconds of each thread
  double process_before_ = 0;     // CPU seconds of the process
};

}  // namespace fl
