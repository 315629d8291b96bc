// What a chunk holds, symbolically: a multiset of contributions. A contribution is what a rank had in a chunk before the collective.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "firstlight/collectives/schedule.hpp"

namespace fl::collectives {

// One contribution; `undefined` where the collective promised nothing about that memory.
struct Token {
  Rank rank = 0;
  Chunk chunk = 0;
  bool undefined = false;
  friend auto operator<=>(const Token&, const Token&) = default;
};

// The sum of 128-bit hashes: equal multisets have equal sums, different ones have different sums except for a chance of 2^-128 or so.
struct Fingerprint {
  std::uint64_t low = 0, high = 0;

  static std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9U;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }
  static Fingerprint of(const Token& t) {
    const std::uint64_t seed = mix(static_cast<std::uint64_t>(t.chunk) * 2 + (t.undefined ? 1 : 0) + 0x9e3779b97f4a7c15U);
    const std::uint64_t one = mix(seed + (static_cast<std::uint64_t>(t.rank) + 1) * 0xd1342543de82ef95U);
    return {one, mix(one ^ seed ^ 0x2545f4914f6cdd1dU)};
  }
  Fingerprint& operator+=(const Fingerprint& other) {
    low += other.low;
    high += other.high + (low < other.low ? 1 : 0);
    return *this;
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// The multiset itself, sorted.
struct Exact {
  std::vector<Token> tokens;

  static Exact of(const Token& t) { return {{t}}; }
  Exact& operator+=(const Exact& other) {
    const auto middle = static_cast<std::ptrdiff_t>(tokens.size());
    tokens.insert(tokens.end(), other.tokens.begin(), other.tokens.end());
    std::inplace_merge(tokens.begin(), tokens.begin() + middle, tokens.end());
    return *this;
  }
  friend bool operator==(const Exact&, const Exact&) = default;
};

// What one rank holds that stands for all, where nothing is added.
struct Single {
  Token token;
  bool mixed = false;

  static Single of(const Token& t) { return {t}; }
  Single& operator+=(const Single&) {
    mixed = true;
    return *this;
  }
  friend bool operator==(const Single&, const Single&) = default;
};

// The first difference between what there is and what should be, in words.
std::string difference(const Exact& is, const Exact& should);

}  // namespace fl::collectives
