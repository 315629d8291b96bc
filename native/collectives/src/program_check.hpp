// Checks the program of one rank alone: its operations are valid, and their accesses to chunks are ordered.
#pragma once

#include <string>
#include <vector>

#include "firstlight/collectives/schedule.hpp"

namespace fl::collectives {

// "rank 3, operation 2 (receive of 4 chunks from rank 1, tag 0)"
std::string describe(Rank rank, Op index, const Operation& operation);

class ProgramCheck {
 public:
  explicit ProgramCheck(const Schedule& schedule);

  // What is invalid (ranges, peers, dependencies); empty where nothing is.
  std::string invalid(Rank rank, const Program& program) const;
  // The first pair of operations that race; empty where there is none. Only for valid programs.
  std::string race(Rank rank, const Program& program);

 private:
  struct Access {
    Op op = no_op;
    std::int32_t segment = 0;
    std::int32_t next = -1;  // of the reads since the last write
  };
  struct Touched {
    Access write;
    std::int32_t reads = -1;
  };

  std::string invalid(const Operation& o, const Range& r) const;
  std::size_t place(Space space, Chunk chunk) const;
  bool ordered(const Access& before, Op op, std::int32_t segment);
  void search(Op before, Op op);
  bool read(std::size_t where, Op op, std::int32_t segment);
  bool write(std::size_t where, Op op, std::int32_t segment);
  std::string conflict(Rank rank, const Access& before, Op op, Space space, Chunk chunk) const;

  const Schedule& schedule_;
  const Program* program_ = nullptr;
  std::vector<Touched> touched_;  // data, then scratch
  std::vector<std::size_t> used_;
  std::vector<Access> reads_;
  Access culprit_;
  // The answer of the last search: how `from_` and `to_` are ordered.
  Op from_ = no_op, to_ = no_op;
  bool as_whole_ = false, by_segment_ = false;
  std::vector<std::pair<Op, bool>> open_;
  std::vector<std::uint32_t> seen_[2];
  std::uint32_t stamp_ = 0;
};

}  // namespace fl::collectives
