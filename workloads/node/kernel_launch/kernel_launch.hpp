// kernel_launch: the time to start a kernel on a device, one at a time and many in a row.
#pragma once

#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"

namespace kernel_launch {

using Word = std::uint64_t;

// What a device poisons with, and what a broken row leaves; no kernel has such a number.
inline constexpr Word begun = ~Word{0}, broken = begun - 1;

struct Params {
  fl::Index in_a_row = 1;
  void declare(fl::Fields& fields) {
    fields.integer("in_a_row", in_a_row, "kernels", 1, 1 << 20, "started one after the other before the host waits for the last");
  }
};

struct State {
  fl::Index in_a_row = 1;
  fl::Array<Word> count;  // one word
  // Variants on a device set these. fetch() copies the count from the device before a check; poisoned() poisons it there after poison().
  void (*fetch)(State&) = nullptr, (*poisoned)(State&) = nullptr;
  void* object = nullptr;  // of theirs
};

inline constexpr fl::About about{
    .title = "Kernel launch",
    .cost = "The kernels that a step starts, each with one thread that writes one word, and the wait for the last one",
    .verified = "Each kernel must find the number of the previous one, and stores its own.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {{"time", "us", "operations", "time", 1e6, "lower"}};

inline std::string refuse(const Params&, const fl::Team&) { return ""; }

inline void init(State& s, const Params& p, const fl::Team&) {
  s.in_a_row = p.in_a_row;
  s.count = fl::Array<Word>(1);
  s.count[0] = fl::poison_bits;
}

inline fl::Cost cost(const Params& p, const fl::Team&) { return {.operations = static_cast<double>(p.in_a_row), .working_set = 8}; }

// Kernel k of step i has this number.
inline Word number(fl::Index in_a_row, fl::Index iteration, fl::Index k) { return static_cast<Word>(iteration * in_a_row + k + 1); }

inline void mutate_inputs(State&, fl::Index) {}

inline void poison(State& s) {
  s.count[0] = fl::poison_bits;
  if (s.poisoned != nullptr) s.poisoned(s);
}

inline fl::Check check(State& s, fl::Index last) {
  if (s.fetch != nullptr) s.fetch(s);
  if (s.count[0] == broken) return fl::Check::of(1, 0, "a kernel was left out, started twice or overtaken");
  const Word expected = number(s.in_a_row, last, s.in_a_row - 1);
  return fl::Check::of(s.count[0] == expected ? 0 : 1, 0,
                       fl::text("the last kernel left %llu, should be %llu", static_cast<unsigned long long>(s.count[0]),
                                static_cast<unsigned long long>(expected)));
}

}  // namespace kernel_launch
