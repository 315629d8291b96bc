// The record as it grows: rank 0 writes each line the moment it is known, with one write() a line.
#pragma once

#include <string>
#include <vector>

#include "binding.hpp"
#include "counters.hpp"
#include "firstlight/device.hpp"
#include "firstlight/workload.hpp"
#include "json.hpp"
#include "observed.hpp"
#include "sketch.hpp"

namespace fl {

// Seconds of one timed batch on one rank.
struct Timing {
  double wall = 0;
  double cpu_share = 0;  // CPU time over wall time and threads; below 1 something else had the processor
};

class Recorder {
 public:
  explicit Recorder(const std::string& path);  // standard output when empty; ends the job with status 3 when it cannot be opened
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // All functions except begin_case, refused, counters and end are collective; only rank 0 writes.
  void launch(const Team& team, const Counters& counters);
  Timing sample(int number, int index, const Timing& mine, bool write, const Observed* observed);  // the maximum over ranks, on every rank
  void devices(int number, const device::Seen& mine);
  void series(int number, const Observed& observed);
  void field(int number, const Sketch& sketch);                 // nothing where nothing was drawn
  bool check(int number, const char* when, const Check& mine);  // returns whether every rank's check is ok, on every rank
  // `counts`: of each counter of this rank's node, the value before and after; those of other ranks than the first of a node are dropped.
  void span(int number, double began, double ended, double wall, const std::vector<Index>& counts);
  void begin_case(int number, Json parameters, const Team& team, const Cost& cost, Index steps);
  void refused(int number, Json parameters, const Team& team, const std::string& why);
  void counters(int number, Index steps, const Counted& counted);
  void end(int cases);

 private:
  void line(Json& json);
  int descriptor_ = -1;
  std::string path_;
};

}  // namespace fl
