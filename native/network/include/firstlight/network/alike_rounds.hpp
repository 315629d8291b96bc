// The round model of schedules that declare which of their rounds are alike: no plan is made, so that there may be any number of rounds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "firstlight/collectives/schedule.hpp"
#include "firstlight/network/contention.hpp"

namespace fl::network {

struct Round {
  std::size_t hops = 0;  // the longest way
  double longest = 0;    // message, in bytes
  double busiest = 0;    // bytes of the busiest link, or of the busiest node over its interfaces; not less than the longest message
  double combined = 0;   // the longest message that is added where it arrives

  // Nanoseconds. alone: as if links were not shared.
  double cost(const Machine& machine, bool linked, bool alone) const;
};

class AlikeRounds {
 public:
  // bytes: of the whole of a schedule's chunks; the machine's interfaces matter.
  AlikeRounds(const collectives::Schedule& schedule, double bytes, const Topology& topology, const Machine& machine);

  double nanoseconds(const Machine& machine, bool alone) const;
  const Contention& contention() const { return contention_; }
  std::span<const double> loads() const { return loads_; }  // bytes that cross each link
  std::int64_t messages() const { return messages_; }
  std::int64_t rounds() const { return rounds_; }  // with messages
  std::size_t kinds() const { return kinds_.size(); }

 private:
  struct Kind {
    std::int64_t times = 0;
    Round round;
  };
  void judge(const Topology& topology, const Machine& machine, std::span<const std::int64_t> users, std::span<const std::int64_t> sends,
             std::span<const std::int64_t> receives);

  bool linked_;
  std::vector<Kind> kinds_;
  std::vector<double> loads_;
  Contention contention_;
  std::int64_t messages_ = 0;
  std::int64_t rounds_ = 0;
};

// Returns whether the schedule declares which rounds are alike, and whether it has more operations than a plan can hold.
bool knows_rounds(const collectives::Schedule& schedule);
bool only_by_rounds(const collectives::Schedule& schedule);

}  // namespace fl::network
