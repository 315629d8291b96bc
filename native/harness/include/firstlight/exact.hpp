// What ranks hold whose exchange or sum is checked: whole numbers in doubles, so that a sum is exact in any order and has one bit pattern.
//
// Word i of a rank is a + b u + c v. a is of the word and the iteration, b and c are of the word, and u and v, the two weights, are of the
// rank. u is another whole number for each rank, and |b| exceeds whatever c v can make up for: so no two ranks have the same word, nor one
// rank the same word in two iterations, or two words in one iteration, that are less than 2^24 apart. The weights follow no rule, and each
// other in nothing, so that no other multiset of ranks has the same sums. Sums stay below 2^53, where doubles hold every whole number, up
// to 2^20 ranks. Everything is computed in integers: no flag of a compiler can change it.
#pragma once

#include <bit>

#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE::exact {

// One to one on the numbers of so many bits, as xor with a shift and multiplication by an odd number are.
template <int bits>
inline std::uint64_t scrambled(std::uint64_t z) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  z &= mask;
  for (const std::uint64_t odd : {0xBF58476D1CE4E5B9ull, 0x94D049BB133111EBull}) {
    z ^= z >> (bits / 2);
    z = z * odd & mask;
  }
  return z ^ (z >> (bits / 2));
}

struct Weight {
  std::int64_t u = 0;  // 20 bits
  std::int64_t v = 0;  // 8 bits
};

inline Weight weight_of(int rank) {
  const auto r = static_cast<std::uint64_t>(rank);
  return {static_cast<std::int64_t>(scrambled<20>(r)), static_cast<std::int64_t>(hash(r) & 0xFF)};
}

// One word as a function of the weights.
struct Line {
  std::int64_t a, b, c;

  double of(std::int64_t ranks, Weight weight) const { return static_cast<double>(ranks * a + b * weight.u + c * weight.v); }
};

inline Line line(Index i, Index iteration) {
  const auto word = static_cast<std::uint64_t>(i);
  const std::uint64_t h = hash(word);
  const auto a = static_cast<std::int64_t>(scrambled<24>(word + 0x9E3779B1ull * static_cast<std::uint64_t>(iteration)));
  const std::int64_t b = (h & 1) != 0 ? 4096 : -4096, c = static_cast<std::int64_t>(h >> 1 & 15) * 2 - 15;  // |c v| < |b|
  return {a - (std::int64_t{1} << 23), b, c};
}

// Word i of a rank of this weight.
inline double value(Weight weight, Index i, Index iteration) { return line(i, iteration).of(1, weight); }

// The first `count` ranks together.
class Ranks {
 public:
  explicit Ranks(int count) : count_(count) {
    for (int rank = 0; rank < count; ++rank) {
      const Weight one = weight_of(rank);
      together_.u += one.u;
      together_.v += one.v;
    }
  }

  // Returns the sum of the ranks' words i.
  double sum(Index i, Index iteration) const { return line(i, iteration).of(count_, together_); }

 private:
  std::int64_t count_;
  Weight together_;
};

// To compare bit by bit, NaN included: what equals the same bits on every rank is equal on all ranks.
inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

}  // namespace fl::inline FL_ROLE::exact
