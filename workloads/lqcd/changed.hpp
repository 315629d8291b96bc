// Sites whose spinor follows the iteration, at places that no step can know: their numbers are divided by a factor of it, the same sites of
// every process's block.
#pragma once

#include <vector>

#include "firstlight/input_mutator.hpp"
#include "layout.hpp"

namespace lqcd {

// How much a field changes: what is solved for so little that a solution takes as many iterations as that of the field as it is given.
enum class Change { much, little };

class ChangedSites {
 public:
  ChangedSites() = default;
  // `even_only`: of these sites alone, where others do not count.
  template <class Fields>
  ChangedSites(const Layout& layout, const Fields& fields, Change change, bool even_only)
      : local_(layout.lattice.local),
        change_(change),
        even_only_(even_only),
        changing_(product(local_), change == Change::much ? fl::InputMutator::most : 8, true) {
    changing_.each_place([&](Index k) {
      const Extents x = site(k);
      Numbers numbers{layout.spinor(x), {}};
      const Spinor psi = fields.spinor(layout.lattice.to_global(x));
      for (std::size_t s = 0; s < 4; ++s)
        for (std::size_t c = 0; c < 3; ++c) {
          const auto at = static_cast<std::size_t>(layout.component(s, c));
          numbers.value[at] = psi[s][c].re, numbers.value[at + 1] = psi[s][c].im;
        }
      numbers_.push_back(numbers);
    });
  }

  template <class T>
  void mutate_inputs(T* psi, const Layout& layout, Index iteration) const {
    if (iteration >= fl::beyond_timing) return;
    changing_.mutate_inputs(iteration, [&](Index) { put(psi, layout, numbers_[changing_.turn(iteration)], divisor_in(iteration)); });
  }
  template <class T>
  Index mutate_between_batches(T* psi, const Layout& layout, Index next) {
    return changing_.mutate_between_batches(next, [&](Index iteration) { mutate_inputs(psi, layout, iteration); });
  }
  // As they were given.
  template <class T>
  void restore(T* psi, const Layout& layout) const {
    for (const Numbers& numbers : numbers_) put(psi, layout, numbers, 1);
  }

  // For checks: the local sites that change, and what a global site was divided by after `last`.
  template <class Visit>
  void each_site(Visit visit) const {
    changing_.each_place([&](Index k) { visit(site(k)); });
  }
  fl::ChangeLog ages(Index last) const {
    return {changing_, last, [&](Index k, Index) { return number(site(k), local_); }};
  }
  double divisor(const fl::ChangeLog& ages, const Extents& global) const {
    if (ages.all().empty()) return 1;
    Extents x;
    for (std::size_t mu = 0; mu < 4; ++mu) x[mu] = global[mu] % local_[mu];
    const Index iteration = ages.of(number(x, local_), -1);
    return iteration < 0 ? 1 : divisor_in(iteration);
  }

 private:
  struct Numbers {
    Index at = 0;  // in psi
    std::array<double, spinor_reals> value{};
  };

  // Neighbours along the last dimension, whose extent is even, differ in parity.
  Extents site(Index k) const {
    Extents x = place(k, local_);
    if (even_only_ && parity(x) != 0) x[3] ^= 1;
    return x;
  }
  template <class T>
  static void put(T* psi, const Layout& layout, const Numbers& numbers, double divisor) {
    for (std::size_t k = 0; k < numbers.value.size(); ++k)
      psi[numbers.at + static_cast<Index>(k) * layout.lanes] = static_cast<T>(numbers.value[k] / divisor);
  }

  double divisor_in(Index iteration) const {
    return change_ == Change::much ? fl::step_factor(iteration) : 1 + 0x1p-10 * fl::step_factor(iteration);
  }

  Extents local_{};
  Change change_ = Change::much;
  bool even_only_ = false;
  fl::InputMutator changing_;
  std::vector<Numbers> numbers_;  // by turn
};

}  // namespace lqcd
