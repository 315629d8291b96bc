// Arithmetic with ranks that several algorithms share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "firstlight/collectives/schedule.hpp"

namespace fl::collectives {

// Ranks on a ring.
inline Rank around(std::int64_t rank, Rank ranks) { return static_cast<Rank>((rank % ranks + ranks) % ranks); }

inline bool power_of_two(Rank ranks) { return std::has_single_bit(static_cast<std::uint32_t>(ranks)); }

inline void need_power_of_two(const Problem& p, const char* who) {
  if (!power_of_two(p.ranks)) throw Refused(std::string(who) + " needs a power of two; " + std::to_string(p.ranks) + " ranks given");
}

// The logarithm of a power of two.
inline std::int32_t logarithm(Rank power) { return std::countr_zero(static_cast<std::uint32_t>(power)); }

// Algorithms for powers of two on any number of ranks: the first `pairs` pairs of neighbours act as one each. The member that acts is
// the odd one, or the root.
struct Fold {
  Rank ranks, power, pairs, root;

  explicit Fold(Rank ranks_, Rank root_ = -1)
      : ranks(ranks_), power(static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(ranks_)))), pairs(ranks_ - power), root(root_) {}
  bool paired(Rank rank) const { return rank < 2 * pairs; }
  bool acts(Rank rank) const { return !paired(rank) || rank == actor(rank / 2); }
  // The number of the pair or of the single rank.
  Rank number(Rank rank) const { return paired(rank) ? rank / 2 : rank - pairs; }
  Rank actor(Rank number) const { return number >= pairs ? number + pairs : root == 2 * number ? root : 2 * number + 1; }
  Rank partner(Rank rank) const { return rank ^ 1; }
  // The first rank of those that stand behind a number.
  Rank first(Rank number) const { return number < pairs ? 2 * number : number + pairs; }
  // The chunks of the ranks behind the numbers from `begin` up to `end`.
  Range blocks(Rank begin, Rank end) const { return chunks(first(begin), first(end) - first(begin)); }
};

}  // namespace fl::collectives
