// Inputs that change at places which no step can predict: so that nothing of an earlier step's work may be kept.
//
// What changes at places that are always the same (the first word, the last) reveals a step that was left out, and not one that keeps the sum
// of all else. So some of the `size` inputs, one from each of up to 64 equal parts of them, in an irregular order, change one after the other, one in a
// step; where, follows from a number that is drawn for each launch (fl::seed()) and is in its record. Between batches, outside of their
// time, all of these inputs change: any part of the inputs that is larger than two of those 64 parts differs in each sample. As many
// further inputs change only then, and no mutate_inputs() of a step reaches them: a step that computes only its own changes misses them.
//
// In a workload, with a member `fl::InputMutator changing` of its State that init() makes:
//   mutate_inputs():  s.changing.mutate_inputs(iteration, [&](fl::Index i) { s.x[i] = value(i, iteration); });
//   mutate_between_batches():  return s.changing.mutate_between_batches(next, [&](fl::Index iteration) { mutate_inputs(s, iteration); });
//   check():  const fl::ChangeLog ages(s.changing, last); ... value(i, ages.of(i, -1)) ...
//
// The cost: one store a step. A load of several elements at once waits some ten cycles for a store just before it to one of them, which
// the shortest steps feel; so up to 16384 inputs only every 256th step has one.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <numeric>
#include <utility>
#include <vector>

#include "firstlight/error_summary.hpp"
#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

class InputMutator {
 public:
  static constexpr Index most = 64;
  static constexpr Index all = 2 * most;  // the second half changes only between batches
  static constexpr Index few = 16384;

  InputMutator() = default;
  // Changes inputs 0 to size - 1. `always` changes one in every step, even if there are few inputs; use it where a step lasts much longer
  // than a store.
  explicit InputMutator(Index size, Index places = most, bool always = false)
      : parts_(std::clamp<Index>(places, 0, std::min(size, most))), shift_(always || size > few ? 0 : 8), mask_(between() - 1) {
    for (Index k = 0; parts_ > 0 && k < all; ++k) {
      const Index part = k % parts_, begin = bound(size, part), length = bound(size, part + 1) - begin;
      places_[static_cast<std::size_t>(k)] =
          begin + static_cast<Index>(drawn(k < most ? k : k + most) % static_cast<std::uint64_t>(length));
    }
    for (Index k = most - 1; k > 0; --k)
      std::swap(places_[static_cast<std::size_t>(k)], places_[drawn(most + k) % static_cast<std::uint64_t>(k + 1)]);
  }

  template <class Change>
  [[gnu::always_inline]] void mutate_inputs(Index iteration, Change change) const {
    if ((iteration & mask_) != 0) [[likely]]
      return;
    if (parts_ > 0) change(place(iteration));
  }

  // All that may change does, in iterations that have no step; `take` is the touch of one. Returns the iteration of the next step.
  template <class Take>
  Index mutate_between_batches(Index next, Take take) {
    if (parts_ == 0) return next;
    Index iteration = (next + between() - 1) / between() * between();
    // Change the hidden half first: an input in both halves then follows its steps.
    for (hidden_ = most, hidden_since_ = iteration; hidden_ >= 0; hidden_ -= most)
      for (Index k = 0; k < most; ++k, iteration += between()) take(iteration);
    hidden_ = 0;
    return iteration;
  }

  // Returns the index of the change in this iteration, among all changes.
  std::size_t turn(Index iteration) const { return static_cast<std::size_t>((iteration >> shift_ & (most - 1)) + hidden_); }
  // Calls `visit` with each place, in the order of the changes.
  template <class Visit>
  void each_place(Visit visit) const {
    for (Index k = 0; parts_ > 0 && k < all; ++k) visit(places_[static_cast<std::size_t>(k)]);
  }

  // Calls `visit` with the place and the iteration of all hidden changes of the last renewal, and of the last 64 other changes up to
  // `last`, the earliest first.
  template <class Visit>
  void each_change(Index last, Visit visit) const {
    if (parts_ == 0) return;
    for (Index k = 0; hidden_since_ >= 0 && k < most; ++k) {
      const Index iteration = hidden_since_ + k * between();
      visit(places_[turn(iteration) + most], iteration);
    }
    const Index latest = last / between();
    for (Index turn = std::max<Index>(latest - most + 1, 0); turn <= latest; ++turn) visit(place(turn * between()), turn * between());
  }

 private:
  Index between() const { return Index{1} << shift_; }  // two changes, in steps
  Index place(Index iteration) const { return places_[turn(iteration)]; }
  // The first of a part; in parts, for size * part may be more than an integer holds.
  Index bound(Index size, Index part) const { return size / parts_ * part + size % parts_ * part / parts_; }
  static std::uint64_t drawn(Index k) { return fl::hash(fl::seed() + static_cast<std::uint64_t>(k) * 0x9E3779B97F4A7C15ull); }

  Index parts_ = 0;
  int shift_ = 8;
  Index mask_ = 255;         // an iteration with a change has none of these bits
  Index hidden_ = 0;         // is `most` while the hidden half changes
  Index hidden_since_ = -1;  // the first iteration of the last change of the hidden half
  std::array<Index, all> places_{};
};

// In which iteration an input changed last. None of the checks' own steps, whose inputs are all of their iteration.
class ChangeLog {
 public:
  using Change = std::pair<Index, Index>;  // input, iteration

  ChangeLog() = default;
  ChangeLog(const InputMutator& changing, Index last) : ChangeLog(changing, last, [](Index i, Index) { return i; }) {}
  // `where`: which input is at place i of the step of an iteration.
  template <class Where>
  ChangeLog(const InputMutator& changing, Index last, Where where) {
    if (last >= beyond_timing) return;
    changing.each_change(last, [&](Index i, Index iteration) { changes_.emplace_back(where(i, iteration), iteration); });
    // If an input changed more than once, keep its last change, which is also last in the list.
    std::stable_sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) { return a.first < b.first; });
    auto kept = changes_.begin();
    for (auto next = changes_.begin(); next != changes_.end(); ++next)
      if (next + 1 == changes_.end() || next[1].first != next->first) *kept++ = *next;
    changes_.erase(kept, changes_.end());
    for (const auto& [i, iteration] : changes_) maybe_.set(slot(i));
  }

  // Returns the iteration in which input i changed last, or `otherwise` if it did not change.
  Index of(Index i, Index otherwise) const {
    if (!maybe_.test(slot(i))) return otherwise;
    const auto found = std::lower_bound(changes_.begin(), changes_.end(), Change{i, 0});
    return found != changes_.end() && found->first == i ? found->second : otherwise;
  }
  bool changed(Index i) const { return of(i, -1) >= 0; }
  // Each input that changed, with its iteration, by number.
  const std::vector<Change>& all() const { return changes_; }
  bool any_in(Index first, Index end) const {
    const auto found = std::lower_bound(changes_.begin(), changes_.end(), Change{first, 0});
    return found != changes_.end() && found->first < end;
  }

 private:
  static constexpr std::size_t slots = 4096;
  static std::size_t slot(Index i) { return static_cast<std::size_t>(i) % slots; }

  std::vector<Change> changes_;
  std::bitset<slots> maybe_;  // most inputs did not change, and are looked up one after the other
};

}  // namespace fl::inline FL_ROLE
