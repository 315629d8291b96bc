// What ranks hold whose sum is checked: whole numbers in doubles, so that the sum is exact in any order and has one bit pattern.
//
// Word i of a rank of weight w is a + b w, with a and b of the word and the iteration. The weights follow no rule, so that no other
// multiset of ranks has the same sum, and every b is odd. Sums stay below 2^53, where doubles hold every whole number, up to 2^20 ranks.
// Everything is computed in integers: no flag of a compiler can change it.
#pragma once

#include <bit>

#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE::exact {

inline std::int64_t weight_of(int rank) { return static_cast<std::int64_t>(hash(static_cast<std::uint64_t>(rank)) & 0xFFFF) + 1; }

// One word as a function of the weight.
struct Line {
  std::int64_t a, b;
};

inline Line line(Index i, Index iteration) {
  const std::uint64_t h = hash(static_cast<std::uint64_t>(i) ^ static_cast<std::uint64_t>(iteration + 1) * 0x9E3779B97F4A7C15ull);
  const auto a = static_cast<std::int64_t>(h & 0xFFFFFF) - (std::int64_t{1} << 23);
  const auto b = static_cast<std::int64_t>((h >> 24) & 0xFFFF) - (std::int64_t{1} << 15);
  return {a, b | 1};
}

// Word i of a rank of this weight.
inline double value(std::int64_t weight, Index i, Index iteration) {
  const Line l = line(i, iteration);
  return static_cast<double>(l.a + l.b * weight);
}

// The first `count` ranks together.
class Ranks {
 public:
  explicit Ranks(int count) : count_(count) {
    for (int rank = 0; rank < count; ++rank) weights_ += weight_of(rank);
  }

  // Of their words i.
  double sum(Index i, Index iteration) const {
    const Line l = line(i, iteration);
    return static_cast<double>(count_ * l.a + weights_ * l.b);
  }

 private:
  std::int64_t count_, weights_ = 0;
};

// To compare bit by bit, NaN included: what equals the same bits on every rank is equal on all ranks.
inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

}  // namespace fl::inline FL_ROLE::exact
