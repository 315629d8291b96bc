// GOAL, the language of LogGOPSim: what each rank sends, receives and computes, and what requires what.
//
//   num_ranks 2
//   rank 0 {
//   l1: calc 100
//   l2: send 8b to 1 tag 7
//   l2 requires l1        // l1 irequires l2: when l2 has started
//   }
//
// Source: Hoefler, Siebert, Lumsdaine 2009, Group Operation Assembly Language - A Flexible Way to Express Collective Communication.
#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>

#include "firstlight/collectives/schedule.hpp"
#include "firstlight/network/machine.hpp"
#include "firstlight/network/plan.hpp"

namespace fl::network {

// The text is not a GOAL schedule. The message names the line.
class GoalError : public std::runtime_error {
 public:
  GoalError(std::size_t line, const std::string& what) : std::runtime_error("line " + std::to_string(line) + ": " + what) {}
};

// In one pass over the text, whatever the order of its ranks. Raises GoalError.
Listing read_goal(const std::string& text);

// Trains become messages of their own, additions and copies become calc with the time of the machine. bytes: as whole() takes
// them; a message has 1 byte at least.
void write_goal(const collectives::Schedule& schedule, double bytes, const Machine& machine, std::ostream& out);
// Writes a plan that was read from GOAL as it was.
void write_goal(const Plan& plan, std::ostream& out);

}  // namespace fl::network
