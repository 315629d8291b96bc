// Proves a schedule right or reports what is wrong with it, whatever the network.
//
// The checker replays all programs with symbols for data: a chunk contains the multiset of contributions (rank, chunk) that were put
// together in it. The replay is confluent: an operation that may go on may still do so later, and which messages match is fixed by
// the programs. So one replay stands for every order in which a machine may run the operations, provided that
//
//   - within each rank all conflicting accesses to a chunk are ordered by dependencies (race_free), and
//   - it comes to its end although no send is complete before its receive is posted (deadlock_free).
//
// Messages of one pair and tag match in the order of both programs; who runs a schedule must see to that.
// Multisets are compared by sums of 128-bit hashes; where one is wrong and the schedule is small, contents are replayed exactly to say
// what is wrong with them.
#pragma once

#include <cstdint>
#include <string>

#include "firstlight/collectives/schedule.hpp"

namespace fl::collectives {

struct Verdict {
  bool correct = false;        // every rank ends with what the collective promises; for `other`: all messages match
  bool deadlock_free = false;  // although no send is complete before its receive is posted
  bool race_free = false;      // conflicting accesses to a chunk are ordered
  bool in_rounds = false;      // rounds are consistent: a message has one round, later than those that it waits for
  bool by_symmetry = false;    // one rank was replayed for all; others were compared with it, all or a sample of them
  std::string why = "";        // what is wrong, in words; empty where nothing is
  std::int64_t operations = 0;
  std::int64_t messages = 0;       // sends; a train is one
  std::int64_t segments_sent = 0;  // its segments count
  int depth = 0;                   // longest chain of messages, each waiting for the one before
  int rounds = 0;                  // of the round model

  explicit operator bool() const { return correct && deadlock_free && race_free; }
};

// Whether one rank may be replayed in the name of all that look alike.
enum class Thoroughness : std::uint8_t { automatic, all_ranks, one_rank };

// Uses 16 bytes per chunk and 120 per operation of all ranks, unless symmetry spares that. Symmetries and rounds that are claimed are
// compared, on all ranks or a sample. Raises Refused for what is beyond `memory` bytes.
Verdict check(const Schedule& schedule, Thoroughness thoroughness = Thoroughness::automatic, std::int64_t memory = std::int64_t{4} << 30);

}  // namespace fl::collectives
