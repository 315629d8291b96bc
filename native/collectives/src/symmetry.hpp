// Ranks that look alike: one stands for all.
#pragma once

#include <string>
#include <vector>

#include "contents.hpp"
#include "firstlight/collectives/schedule.hpp"

namespace fl::collectives {

// Moves ranks, blocks and contributions by Schedule::symmetry.
class Translation {
 public:
  explicit Translation(const Schedule& schedule);

  Rank to(Rank rank, Rank by) const { return moved(rank, by, 1); }
  Rank back(Rank rank, Rank by) const { return moved(rank, by, -1); }
  // A chunk of data or input with its block.
  Chunk chunk(Chunk c, Rank by) const { return block_ == 0 ? c : to(static_cast<Rank>(c / block_), by) * block_ + c % block_; }
  Token token(const Token& t, Rank by) const { return {to(t.rank, by), chunk(t.chunk, by), t.undefined}; }

 private:
  Rank moved(Rank rank, Rank by, Rank sign) const;

  Symmetry symmetry_;
  Rank ranks_;
  Chunk block_;
  std::vector<Rank> shape_;
};

// Compares ranks with rank 0 moved along: all of them, or a sample where that would take long. What differs, in words.
std::string broken_symmetry(const Schedule& schedule, const Translation& translation);

}  // namespace fl::collectives
