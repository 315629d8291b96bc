// Checksums. They detect damage, they are not cryptographic: any change of one word changes both kinds of sums.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "firstlight/role.hpp"
#include "firstlight/workload.hpp"

namespace fl::checkpoints::inline FL_ROLE {

// The sum of bytes in their order: four lanes of words, each step of which is a bijection of the lane and of the word.
inline std::uint64_t sum_of(const void* data, std::size_t bytes) {
  constexpr std::uint64_t factor = 0x9FB21C651E98DF25ull;
  const auto* at = static_cast<const unsigned char*>(data);
  const auto add = [](std::uint64_t lane, std::uint64_t word) { return std::rotl((lane ^ word) * factor, 29); };
  std::uint64_t lanes[4] = {1, 2, 3, 4}, word = 0;
  std::size_t left = bytes;
  for (; left >= 32; left -= 32, at += 32)
    for (int k = 0; k < 4; ++k) {
      std::memcpy(&word, at + 8 * k, 8);
      lanes[k] = add(lanes[k], word);
    }
  for (; left > 0; at += word) {
    std::uint64_t rest = 0;
    word = left < 8 ? left : 8;
    std::memcpy(&rest, at, word);
    lanes[0] = add(lanes[0], rest);
    left -= word;
  }
  std::uint64_t sum = fl::hash(bytes);
  for (const std::uint64_t lane : lanes) sum = fl::hash(sum ^ lane);
  return sum;
}

// The share of one word in a sum over all words of a field, in any order and by any number of processes: such shares are added.
inline std::uint64_t share_of_word(std::uint64_t number, std::uint64_t word) {
  std::uint64_t mixed = word + number * 0x9E3779B97F4A7C15ull;
  mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93ull;
  mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93ull;
  return mixed ^ mixed >> 32;
}

}  // namespace fl::checkpoints::inline FL_ROLE
