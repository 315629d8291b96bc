// How long the messages of a pattern take on a map, by the discrete events of native/network: links and interfaces with queues.
#pragma once

#include <atomic>

#include "firstlight/mapping/loads.hpp"
#include "firstlight/network/machine.hpp"

namespace fl::mapping {

struct Timed {
  double seconds = 0;          // all phases, one after another, each begun by all ranks at once
  double flowing = 0;          // the same, each rank going on to its next phase as soon as its own messages are through
  std::vector<double> phases;  // each of them
  std::int64_t events = 0;
};

// Each phase by itself, then all in one go. In a phase all its messages are ready when it begins, and it is over when the
// last has arrived; a long message goes in a few packets, between which links let others through. Ranks of one node have interfaces of their own, and what stays in a node passes no link. Raises Wrong for what is
// larger than a plan can be.
Timed simulated(const Pattern& pattern, const Places& places, const Map& map, const network::Machine& machine,
                const std::atomic<bool>& stop);

// The objective's value for the same: the load of each phase's busiest link over the bandwidth of a link.
double bounded(const Cost& cost, const network::Machine& machine);

}  // namespace fl::mapping
