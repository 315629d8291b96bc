// A schedule made ready to be evaluated: the operations of all ranks in one array, messages matched, who waits for whom known both ways.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "firstlight/collectives/schedule.hpp"
#include "firstlight/network/topology.hpp"

namespace fl::network {

using Index = std::uint32_t;  // of an operation in the plan

// A combine of an algorithm is two steps: a receive, and then the addition, which alone is a step of kind `combine`.
struct Step {
  collectives::Kind kind = collectives::Kind::compute;
  std::uint8_t cpu = 0;
  std::uint8_t nic = 0;
  std::int32_t rank = 0;
  std::int32_t peer = -1;  // representative plans: the rank that is as far from rank 0
  std::int32_t segments = 1;
  std::int32_t round = 0;
  Index match = 0;                 // of a send: its receive, and the other way round
  double bytes = 0;                // a segment; of compute: nanoseconds
  Index waits = 0, waits_end = 0;  // in Plan::waits
  Index frees = 0, frees_end = 0;  // in Plan::frees
};

struct Wait {
  Index on = 0;
  bool started = false;
};

// The operations of all ranks in one array, those of a rank after one another, as they were read: nothing is matched yet.
struct Listing {
  std::vector<Step> steps;         // match and frees are not set
  std::vector<std::int32_t> tags;  // of each step
  std::vector<Wait> waits;
  std::vector<Index> first;  // of each rank, and the end
  std::int32_t ranks() const { return static_cast<std::int32_t>(first.size()) - 1; }
};

// A schedule that can never come to its end: messages without a partner, or operations that wait for one another.
class Endless : public collectives::Refused {
 public:
  using Refused::Refused;
};

class Plan {
 public:
  static constexpr std::size_t most_steps = 30'000'000;  // about 3 GB

  // bytes: of the whole of a schedule's chunks. representative: rank 0 stands for all, and its messages come back to it; only for
  // schedules whose ranks look alike. Raises Endless where a message has no receive, Refused where there is more than fits.
  Plan(const collectives::Schedule& schedule, double bytes, bool representative);
  // Raises Endless.
  explicit Plan(Listing listing);

  std::span<const Step> steps() const { return steps_; }
  std::span<const Wait> waits(const Step& s) const { return std::span(waits_).subspan(s.waits, s.waits_end - s.waits); }
  // Operations of the same rank that wait for this one.
  std::span<const Index> frees(const Step& s) const { return std::span(frees_).subspan(s.frees, s.frees_end - s.frees); }
  // Those of a rank are [first(rank), first(rank + 1)).
  Index first(std::int32_t rank) const { return first_[static_cast<std::size_t>(rank)]; }
  std::int32_t ranks() const { return static_cast<std::int32_t>(first_.size()) - 1; }  // in the plan: 1 if representative
  bool representative() const { return representative_; }
  bool trains() const { return trains_; }                  // some operation has more than one segment
  bool starts() const { return starts_; }                  // some operation waits for the start of another one only
  std::int64_t operations() const { return operations_; }  // of all ranks, segments counted
  std::int64_t messages() const { return messages_; }
  int depth() const { return depth_; }  // messages that wait for one another
  // Return the number of messages whose receive names a different number of bytes, and a description of the first. The send's size counts.
  std::int64_t mismatches() const { return mismatches_; }
  const std::string& mismatch() const { return mismatch_; }

  std::int32_t tag(Index step) const { return tags_[step]; }

  // In an order in which everything comes after what it waits for.
  std::span<const Index> order() const { return order_; }

 private:
  void append(const collectives::Schedule& schedule, std::int32_t rank, double chunk_bytes, collectives::Program& program);
  void match(const collectives::Schedule* schedule);
  void match_for(const collectives::Schedule* schedule, std::int32_t receiver, std::span<const Index> sends);
  void invert();
  void sort();

  std::vector<Step> steps_;
  std::vector<Wait> waits_;
  std::vector<Index> frees_;
  std::vector<Index> first_;
  std::vector<Index> order_;
  std::vector<std::int32_t> tags_;  // of each step
  std::vector<Index> places_;       // of the operations of one program
  bool representative_;
  bool trains_ = false;
  bool starts_ = false;
  std::int64_t operations_ = 0;
  std::int64_t messages_ = 0;
  int depth_ = 0;
  std::int64_t mismatches_ = 0;
  std::string mismatch_;
};

// Why a plan does not come to its end if no send is complete before its receive is posted, as MPI allows; empty: it does. What a
// representative plan is not true of any rank.
std::string stuck(const Plan& plan);

// Whether one rank can stand for all, on this network and without noise.
bool representative(const collectives::Schedule& schedule, const Topology& topology);

// Bytes of all chunks, where `bytes` are those of the message, of one rank's block, or of what one rank has for one other.
double whole(const collectives::Schedule& schedule, double bytes);

}  // namespace fl::network
