// Phases: named parts of a step (assembly, halo, solver) that the harness times, each on its own.
//
//   inline constexpr fl::Phases phases{"assembly", "halo", "solver"};     in the header, and .phases = phases in about
//   { fl::In in(phases("halo")); exchange(s); }                           in a variant: until the end of the block
//   fl::during(phases("halo"), [&] { exchange(s); });                     the same as one statement
//
// A phase begun inside another stops that one until it ends, so that phases and `phase_other`, what is in none, add up to the time
// of the step. Each beginning and each end reads the clock once, 20 to 50 ns: mark code of microseconds, not the body of a loop.
// Counted is the thread that runs the step (of a team of OpenMP, its first); in any other thread, and in hooks and checks, a mark
// does nothing. What a device does later belongs to the phase that waits for it. A misspelt name does not compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "firstlight/role.hpp"

namespace fl {

struct Phase {
  int slot = 0;  // 0: the whole step
  const char* name = "";
};

class Phases {
 public:
  static constexpr int most = 12;

  constexpr Phases() = default;
  // Lower-case letters, digits and underscores, a letter first, at most 26 of them; "other" is the harness's.
  template <class... Names>
  explicit consteval Phases(const char* first, Names... others)
      : names_{first, others...}, count_(1 + static_cast<int>(sizeof...(others))) {
    static_assert(sizeof...(others) < most, "too many phases");
    for (int k = 0; k < count_; ++k) {
      const std::string_view name = names_[k];
      if (name.empty() || name.size() > 26 || name == "other" || name[0] < 'a' || name[0] > 'z') throw "not the name of a phase";
      for (const char c : name)
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) throw "not the name of a phase";
      for (int j = 0; j < k; ++j)
        if (name == names_[j]) throw "two phases of one name";
    }
  }

  // Not operator[]: clang 14 supports no operator of that kind in a template.
  consteval Phase operator()(std::string_view name) const {
    for (int k = 0; k < count_; ++k)
      if (name == names_[k]) return {k + 1, names_[k]};
    throw "no phase of this name is declared";
  }

  constexpr int count() const { return count_; }
  constexpr const char* name(int k) const { return names_[k]; }

 private:
  const char* names_[most] = {};
  int count_ = 0;
};

// The clock of a node since it started. Without <chrono>, whose formats take a compiler as long as a small kernel.
inline std::int64_t clock_nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{1000000000} * t.tv_sec + t.tv_nsec;
}

namespace detail {

// What the spans that were timed so far spent in each phase, in nanoseconds: whole numbers, which no flag of a compiler changes.
struct Watch {
  std::int64_t spent[Phases::most + 1] = {};
  std::int64_t since = 0;
  int current = 0;

  int turn(int slot) {
    const std::int64_t at = clock_nanoseconds();
    spent[current] += at - since;
    since = at;
    const int left = current;
    current = slot;
    return left;
  }
};

// Null but in the thread that runs the steps, while it does.
inline constinit thread_local Watch* watch = nullptr;

}  // namespace detail

inline namespace FL_ROLE {

class [[nodiscard]] In {
 public:
  explicit In(Phase phase) : watch_(detail::watch), outer_(watch_ != nullptr ? watch_->turn(phase.slot) : 0) {}
  ~In() {
    if (watch_ != nullptr) watch_->turn(outer_);
  }
  In(const In&) = delete;
  In& operator=(const In&) = delete;

 private:
  detail::Watch* watch_;
  int outer_;
};

template <class Work>
void during(Phase phase, const Work& work) {
  const In in(phase);
  work();
}

}  // namespace FL_ROLE
}  // namespace fl
