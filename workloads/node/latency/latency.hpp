// latency: how long one access takes when each address comes from the one before: a chase of pointers over one random cycle.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>

#include "firstlight/workload.hpp"

namespace latency::inline FL_ROLE {

inline constexpr fl::Index line_bytes = 64;
inline constexpr fl::Index hops = 4096;  // of one step

struct Params {
  fl::Index bytes = fl::Index{1} << 24;
  void declare(fl::Fields& fields) { fields.integer("bytes", bytes, "B", 1024, fl::Index{1} << 40, "size of the buffer, a power of two"); }
};

struct alignas(line_bytes) Line {
  Line* next;
};

// A bijection of the numbers of `bits` bits that scatters neighbours. Odd factors and shifts by at least half the width can be
// undone, so the successor of a line in the cycle is known from its own number, and the buffer is filled in the order of
// addresses, at the speed of memory.
class Scatter {
 public:
  explicit Scatter(int bits) : mask_((std::uint64_t{1} << bits) - 1), shift_((bits + 1) / 2) {}
  // Where the cycle stands after so many hops.
  std::uint64_t line_of(std::uint64_t turn) const {
    std::uint64_t z = turn & mask_;
    for (const std::uint64_t factor : factors) z = fold(z * factor & mask_);
    return z;
  }
  std::uint64_t turn_of(std::uint64_t line) const {
    std::uint64_t z = line;
    for (int k = rounds - 1; k >= 0; --k) z = fold(z) * inverses[k] & mask_;
    return z;
  }
  std::uint64_t successor(std::uint64_t line) const { return line_of(turn_of(line) + 1); }

 private:
  // Newton's iteration modulo 2^64: each round doubles the number of right bits, three of which an odd number has itself.
  static constexpr std::uint64_t inverse(std::uint64_t odd) {
    std::uint64_t x = odd;
    for (int k = 0; k < 5; ++k) x *= 2 - odd * x;
    return x;
  }
  std::uint64_t fold(std::uint64_t z) const { return z ^ z >> shift_; }

  static constexpr int rounds = 3;
  static constexpr std::uint64_t factors[rounds] = {0x9E3779B97F4A7C15ull, 0xBF58476D1CE4E5B9ull, 0x94D049BB133111EBull};
  static const std::uint64_t inverses[rounds];
  std::uint64_t mask_;
  int shift_;
};

inline constexpr std::uint64_t Scatter::inverses[rounds] = {inverse(factors[0]), inverse(factors[1]), inverse(factors[2])};

struct State {
  fl::Array<Line> lines;
  Line* at = nullptr;  // goes on from step to step, so none can begin before the last has ended
  double visited = 0;  // sum of the numbers of the lines visited in this step, modulo 2^32
  fl::Team team;
};

inline constexpr fl::About about{
    .title = "Memory latency",
    .cost = "4096 dependent accesses a step, one to a line of 64 bytes, on one random cycle through the whole buffer",
    .verified = "the line reached and the sum of the lines visited against the bijection that made the cycle; the cycle itself up to 4 MiB",
    .tolerance = "exact",
};

inline constexpr fl::Metric metrics[] = {{"latency", "ns", "accesses", "time", 1e9, "lower"}};

inline std::string refuse(const Params& p, const fl::Team&) {
  return std::has_single_bit(static_cast<std::uint64_t>(p.bytes)) ? "" : fl::text("bytes must be a power of two, not %lld", p.bytes);
}

inline Scatter scatter(const State& s) { return Scatter(std::countr_zero(static_cast<std::uint64_t>(s.lines.size()))); }

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.team = team;
  s.lines = fl::Array<Line>(p.bytes / line_bytes);
  fl::first_touch(&s);
  const Scatter cycle = scatter(s);
  for (fl::Index i = 0; i < s.lines.size(); ++i)
    s.lines[i].next = &s.lines[static_cast<fl::Index>(cycle.successor(static_cast<std::uint64_t>(i)))];
  s.at = &s.lines[static_cast<fl::Index>(cycle.line_of(0))];
}

inline fl::Cost cost(const Params& p, const fl::Team&) {
  return {
      .bytes = static_cast<double>(hops * line_bytes), .accesses = static_cast<double>(hops), .working_set = static_cast<double>(p.bytes)};
}

// The chase goes on where it was: there is nothing to hoist, and nothing to change.
inline void touch(State&, fl::Index) {}

inline void poison(State& s) { fl::poison(&s.visited, 1); }

// What a step reports of the lines it left behind: the sum of their addresses as line numbers.
inline double visited_lines(const State& s, std::uint64_t sum_of_addresses) {
  const auto base = reinterpret_cast<std::uintptr_t>(s.lines.data());
  return static_cast<double>(static_cast<std::uint32_t>((sum_of_addresses - static_cast<std::uint64_t>(hops) * base) / line_bytes));
}

// Follows the cycle as the variant left it: it must come back after visiting every line, not before.
inline fl::Index cycle_length(const State& s) {
  const Line* at = s.lines.data();
  fl::Index length = 0;
  do {
    at = at->next;
    ++length;
  } while (at != s.lines.data() && length <= s.lines.size());
  return length;
}

inline fl::Check check(State& s, fl::Index last) {
  const Scatter cycle = scatter(s);
  const auto begin = static_cast<std::uint64_t>(last) * hops;
  std::uint32_t sum = 0;
  for (std::uint64_t turn = begin; turn < begin + hops; ++turn) sum += static_cast<std::uint32_t>(cycle.line_of(turn));
  const auto line = static_cast<fl::Index>(cycle.line_of(begin + hops));
  const fl::Index reached = s.at - s.lines.data();
  if (reached != line) return fl::Check::of(1, 0, fl::text("the chase reached line %lld, should be at %lld", reached, line));
  if (constexpr fl::Index followed = fl::Index{1} << 16; s.lines.size() <= followed) {
    if (const fl::Index length = cycle_length(s); length != s.lines.size())
      return fl::Check::of(1, 0, fl::text("the cycle closes after %lld lines of %lld", length, s.lines.size()));
  }
  return fl::Check::of(std::fabs(s.visited - static_cast<double>(sum)), 0,
                       fl::text("the lines visited add up to %.0f, should be %.0f", s.visited, static_cast<double>(sum)));
}

}  // namespace latency::inline FL_ROLE
