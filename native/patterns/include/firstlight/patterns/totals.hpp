// What a pattern comes to, and whether it is whole; collective operations count as what ranks put in, for they name no peers.
#pragma once

#include <string>
#include <vector>

#include "firstlight/patterns/pattern.hpp"

namespace fl::patterns {

// Totals over the messages of all ranks that name their peer, in one repetition.
struct Totals {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  std::int64_t own = 0;       // bytes that ranks send to themselves, of `bytes`
  std::int64_t shortest = 0;  // message, 0 where there is none
  std::int64_t longest = 0;
  bool symmetric = true;  // what goes one way in this phase comes back
};
Totals totals(const Instance& instance, const Phase& phase);

// What one rank sends to one other in an iteration.
struct Pair {
  Rank from = 0, to = 0;
  std::int64_t messages = 0, bytes = 0;
};
// Those of one rank, by receiver, in one repetition of a phase.
std::vector<Pair> pairs(const Phase& phase, Rank from);
// Those of one rank, by receiver, in one iteration.
std::vector<Pair> pairs(const Instance& instance, Rank from);

// A pattern as a whole. Each rank is evaluated once: to compute what it sends may be work.
struct Overview {
  std::vector<Totals> phases;
  std::vector<Rank> partners;  // others that a rank sends to in an iteration, by rank
  Rank contacted = 0;          // others that a rank exchanges messages with, in either direction: the most of any rank
  Rank often = 0;              // others from which a rank gets `often` messages at least in a whole run: the most of any rank
};
Overview overview(const Instance& instance, std::int64_t often);

// What is wrong in words, with the phase and the ranks; empty where every send has its receive, of as many bytes and in one order, and
// every rank belongs to the group that its members name.
std::string unmatched(const Instance& instance);

}  // namespace fl::patterns
