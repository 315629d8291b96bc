// The energy of samples: counters of each node, read by its first rank directly before and after consecutive samples.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "firstlight/workload.hpp"
#include "recorder.hpp"

namespace fl {

// Does nothing unless the launcher requested it. A span of consecutive samples excludes checks, the fill and the warm-up. Its samples have
// barriers between them, so no reader delays them.
class EnergySpans {
 public:
  static constexpr std::size_t most = 16;  // counters of a node

  // `files`: their counters. `wanted`: without files, only the times of the spans are recorded.
  EnergySpans(Recorder& recorder, const std::vector<std::string>& files, bool wanted, int number);
  ~EnergySpans();
  EnergySpans(const EnergySpans&) = delete;
  EnergySpans& operator=(const EnergySpans&) = delete;

  // Both are collective.
  void sample_follows();  // begins a span unless there is one
  void sample_ended(double wall) { wall_ += wall; }
  void end();  // ends the span, if there is one, and records it

 private:
  using Counts = std::array<Index, most>;
  Counts read() const;

  Recorder& recorder_;
  int number_;
  bool wanted_, within_ = false;
  std::vector<int> descriptors_;  // -1: cannot be opened
  Counts before_ = {};
  double began_ = 0, wall_ = 0;
};

}  // namespace fl
