// latency: the time of one access when each address comes from the one before: a chase of pointers over one random cycle.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>

#include "firstlight/workload.hpp"

namespace latency {

inline constexpr fl::Index line_bytes = 64;
inline constexpr fl::Index hops = 4096;  // of one step

struct Params {
  fl::Index bytes = fl::Index{1} << 24;
  void declare(fl::Fields& fields) { fields.integer("bytes", bytes, "B", 1024, fl::Index{1} << 40, "size of the buffer, a power of two"); }
};

struct alignas(line_bytes) Line {
  Line* next;
  fl::Index nothing;  // 0, which no step can predict
};

// A bijection of the numbers of `bits` bits that scatters neighbours. Odd factors and shifts by at least half the width can be
// undone, so the successor of a line in the cycle is known from its own number, and the buffer is filled in the order of
// addresses, at the speed of memory.
class Scatter {
 public:
  explicit Scatter(int bits = 1) : mask_((std::uint64_t{1} << bits) - 1), shift_((bits + 1) / 2) {}
  // Where the cycle is after so many hops.
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
  Scatter cycle;
  std::uint64_t seed = 0;
  Line* at = nullptr;      // where the chase is; no step can begin before the last has ended, see mutate_inputs()
  Line* before = nullptr;  // the line whose successor is left out in this step
  Line* left_out = nullptr;
  double visited = 0;  // sum of the numbers of the lines visited in this step, modulo 2^32
  fl::Team team;
};

inline constexpr fl::About about{
    .title = "Memory latency",
    .cost =
        "4096 dependent accesses per step, each to another line of 64 bytes, on one random cycle through all lines of the buffer "
        "except one",
    .verified =
        "The final line and the sum of the visited lines, compared with the bijection that defines the cycle. Start and left-out line"
        " are random. Up to 4 MiB also the cycle itself.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {{"latency", "ns", "accesses", "time", 1e9, "lower"}};

inline std::string refuse(const Params& p, const fl::Team&) {
  return std::has_single_bit(static_cast<std::uint64_t>(p.bytes)) ? "" : fl::text("bytes must be a power of two, not %lld", p.bytes);
}

inline Scatter scatter(const State& s) { return Scatter(std::countr_zero(static_cast<std::uint64_t>(s.lines.size()))); }

// Where a step begins, and after how many hops a line is left out: both follow from the launch's seed, so that no step can predict them.
struct Route {
  std::uint64_t start, hops_before;
};
inline Route route(const State& s, fl::Index iteration) {
  const std::uint64_t h = fl::hash(s.seed + static_cast<std::uint64_t>(iteration));
  return {h, h >> 52};
}
static_assert(hops == 1 << 12, "the step visits the line that should be left out");

// Writes the cycle into the buffer, in the order of addresses.
inline void link(State& s) {
  for (fl::Index i = 0; i < s.lines.size(); ++i)
    s.lines[i] = {&s.lines[static_cast<fl::Index>(s.cycle.successor(static_cast<std::uint64_t>(i)))], 0};
  s.at = s.before = s.lines.data();
  s.left_out = s.at->next;
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.team = team;
  s.lines = fl::Array<Line>(p.bytes / line_bytes);
  fl::first_touch(&s);
  s.cycle = scatter(s);
  s.seed = fl::hash(fl::seed());
  link(s);
}

inline fl::Cost cost(const Params& p, const fl::Team&) {
  return {
      .bytes = static_cast<double>(hops * line_bytes), .accesses = static_cast<double>(hops), .working_set = static_cast<double>(p.bytes)};
}

// Each step begins somewhere else, and on its way leaves out a line that the one before did not: neither where a step ended nor where a
// part of the cycle leads may be remembered. The place also depends on a word of the line that the last step reached, or a processor would begin
// before the end. One access more than the 4096, and some 15 ns of arithmetic in addition: 0.3 % of a step in the first cache.
inline void mutate_inputs(State& s, fl::Index iteration) {
  const Route r = route(s, iteration);
  const auto line = [&](std::uint64_t turn) { return &s.lines[static_cast<fl::Index>(s.cycle.line_of(turn))]; };
  s.before->next = s.left_out;
  s.before = line(r.start + r.hops_before);
  s.left_out = line(r.start + r.hops_before + 1);
  s.before->next = line(r.start + r.hops_before + 2);
  s.at = line(r.start) + s.at->nothing;
}

inline void poison(State& s) { fl::poison(&s.visited, 1); }

// What a step reports of the lines it left behind: the sum of their addresses as line numbers.
inline double visited_lines(const State& s, std::uint64_t sum_of_addresses) {
  const auto base = reinterpret_cast<std::uintptr_t>(s.lines.data());
  return static_cast<double>(static_cast<std::uint32_t>((sum_of_addresses - static_cast<std::uint64_t>(hops) * base) / line_bytes));
}

// Follows the cycle as the variant left it: it must come back after visiting every line but the one left out, not before.
inline fl::Index cycle_length(const State& s) {
  const Line* const start = s.before;
  const Line* at = start;
  fl::Index length = 0;
  do {
    at = at->next;
    ++length;
  } while (at != start && length <= s.lines.size());
  return length;
}

inline fl::Check check(State& s, fl::Index last) {
  const Scatter cycle = scatter(s);
  const Route r = route(s, last);
  const std::uint64_t before = cycle.line_of(r.start + r.hops_before);
  std::uint64_t turn = r.start;
  std::uint32_t sum = 0;
  for (fl::Index hop = 0; hop < hops; ++hop) {
    const std::uint64_t at = cycle.line_of(turn);
    sum += static_cast<std::uint32_t>(at);
    turn += at == before ? 2 : 1;
  }
  const auto line = static_cast<fl::Index>(cycle.line_of(turn));
  const fl::Index reached = s.at - s.lines.data();
  if (reached != line) return fl::Check::of(1, 0, fl::text("the chase reached line %lld, should be at %lld", reached, line));
  if (constexpr fl::Index followed = fl::Index{1} << 16; s.lines.size() <= followed) {
    if (const fl::Index length = cycle_length(s); length != s.lines.size() - 1)
      return fl::Check::of(1, 0, fl::text("the cycle closes after %lld lines of %lld", length, s.lines.size() - 1));
  }
  return fl::Check::of(std::fabs(s.visited - static_cast<double>(sum)), 0,
                       fl::text("the lines visited add up to %.0f, should be %.0f", s.visited, static_cast<double>(sum)));
}

}  // namespace latency
