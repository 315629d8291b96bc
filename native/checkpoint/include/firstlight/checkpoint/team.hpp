// The processes that save and restore together. One process without MPI is `Alone`; firstlight/checkpoint/mpi.hpp has those of MPI.
#pragma once

#include <string>
#include <vector>

#include "firstlight/checkpoint/disk.hpp"

namespace fl::checkpoints::inline FL_ROLE {

using Words = std::vector<std::uint64_t>;

// Bytes that one rank sends to another one, or keeps. All ranks know the list of them, in the same order.
struct Item {
  int from = 0, to = 0;
  std::size_t bytes = 0;
};

struct Alone {
  int rank() const { return 0; }
  int size() const { return 1; }
  // Throws Failure on every rank if any rank has an error; the message is that of the first rank with one.
  void agree(const std::string& error) const {
    if (!error.empty()) throw Failure(error);
  }
  // Returns the words of each rank on every rank.
  std::vector<Words> gather(const Words& mine) const { return {mine}; }
  std::uint64_t total(std::uint64_t mine) const { return mine; }
  // pack(k, bytes) on the rank that sends item k, unpack(k, bytes) on the one that receives it.
  template <class Pack, class Unpack>
  void deliver(const std::vector<Item>& items, const Pack& pack, const Unpack& unpack) const {
    for (std::size_t k = 0; k < items.size(); ++k) {
      Bytes memory(items[k].bytes);
      pack(k, memory.data());
      unpack(k, memory.data());
    }
  }
};

// Runs `work` on each rank; if it fails on any, every rank throws Failure.
template <class Team, class Work>
void together(const Team& team, const Work& work) {
  std::string error;
  try {
    work();
  } catch (const Failure& failure) {
    error = failure.what();
  }
  team.agree(error);
}

}  // namespace fl::checkpoints::inline FL_ROLE
