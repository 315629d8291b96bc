// A device's kernels on a processor: block after block, a fiber a thread. Slow, and what makes them be checked where no GPU is.
#pragma once

#include "meetings.hpp"
#include "run.hpp"

namespace hartree_fock {

template <class Way>
struct OnFibers {
  void prepare(State& s) {
    n_ = static_cast<int>(s.n);
    pairs_ = Pairs::of(s.shells);
    meetings_.make(pairs_, s.shells, n_, s.p.tau, Way::stores);
    stored_.resize(static_cast<std::size_t>(Way::stores ? meetings_.stored : 0));
  }
  void build(const double* density, double* g) {
    density_.take(pairs_, n_, density);
    sums_.reset(pairs_, n_);
    const Shelves shelves{{meetings_.shells[0].data(), meetings_.shells[1].data()},
                          {static_cast<int>(meetings_.shells[0].size()), static_cast<int>(meetings_.shells[1].size())},
                          meetings_.places.data()};
    Meeting base{nullptr, pairs_.view(), {}, {}, 0, 0, meetings_.starts.data(), density_.into(sums_), stored_.data(), shelves};
    for (const Planned& plan : meetings_.planned) {
      const fl::In in(class_phases[plan.of]);
      with_class(plan.of, [&](auto bra, auto ket) {
        base.rows = Boys::table().template of<bra + ket>();
        std::fill(stored_.begin(), stored_.end(), std::nan(""));
        Way::template run<bra, ket>(*this, meetings_.meeting(pairs_, plan, base));
      });
    }
    finish(pairs_, n_, sums_, g);
  }
  std::array<fl::Index, class_count> quartets() const { return meetings_.quartets; }

  template <class Kernel>
  void kernel(int blocks, const Meeting& m) const {
    fl::each_block<typename Kernel::Shared>(
        {blocks}, {Kernel::threads}, [&](const fl::Block& block, typename Kernel::Shared& shared) { Kernel::body(block, shared, m); });
  }

 private:
  int n_ = 0;
  Pairs pairs_;
  Meetings meetings_;
  Density density_;
  Sums sums_;
  std::vector<double> stored_;
};

}  // namespace hartree_fock
