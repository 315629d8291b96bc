// What a check found wrong: how much of it, and the first of it in words.
#pragma once

#include <cmath>
#include <string>
#include <type_traits>

#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

// Things that are right or wrong: words, bytes, times.
class ErrorSummary {
 public:
  // sentence() describes what is wrong with this one; it is called for the first only.
  template <class Sentence>
  void add(Sentence sentence) {
    if (count_ == 0) what_ = sentence();
    count_ += 1;
  }
  double count() const { return count_; }
  // `sound`: the sentence where nothing is wrong.
  Check check(const std::string& sound) const { return Check::of(count_, 0, count_ == 0 ? sound : what_); }

 private:
  double count_ = 0;
  std::string what_;
};

// Keeps the largest of several errors, as a share of its tolerance. An error that is not a number counts as the largest.
class WorstError {
 public:
  // Whether consider() would keep it: spares the sentence.
  bool exceeded_by(double error, double allowed) const { return !(error <= share_ * allowed); }
  // `sentence`: the description of the error, or a function that returns it.
  template <class Sentence>
  void consider(double error, double allowed, Sentence sentence) {
    const double found = std::isfinite(error) ? error / allowed : INFINITY;
    if (found <= share_) return;
    share_ = found;
    if constexpr (std::is_invocable_v<Sentence>)
      what_ = sentence();
    else
      what_ = sentence;
  }
  double share() const { return share_; }
  // `sound`: the sentence where nothing exceeds what is allowed.
  Check check(const std::string& sound) const { return Check::of(share_, 1, share_ <= 1 ? sound : what_); }
  const std::string& what() const { return what_; }  // of the largest; empty where all errors are 0

 private:
  double share_ = 0;
  std::string what_;
};

// Iterations of the checks' own steps: none that the timed loop comes to.
inline constexpr Index beyond_timing = Index{1} << 41;

// One untimed step on inputs that are new in every word. Collective, whatever was found before.
template <class State>
void fresh_round(State& s, ErrorSummary& damage) {
  s.filled = beyond_timing + s.rounds++;
  fill(s);
  poison(s);
  run_steps(s.filled, 1);
  inspect(s, s.filled, damage);
}

}  // namespace fl::inline FL_ROLE
