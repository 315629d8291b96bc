// What each thread has in hand during a step, for the drawing; and what is taken from its time on purpose.
#pragma once

#include <utility>

#include "detours.hpp"

namespace lu {

// Rows dealt to threads.
struct Dealt {
  int threads;
  template <class Body>
  void operator()(Index count, const Body& body) const {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (Index i = 0; i < count; ++i) body(i);
  }
};

class Hands {
 public:
  // A step begins.
  explicit Hands(State& s) : s_(s), begin_(now()) {
    for (Index thread = 0; thread < s.team.threads; ++thread) detours_.emplace_back(s.p, thread);
    s.threads.assign(detours_.size(), {});
  }

  // Takes from a thread what has come due; before it looks for work, too.
  void take(int thread) { detours_[static_cast<std::size_t>(thread)].take(); }

  // Tile column `j` in a thread's hands: it is factored, or updated by another panel.
  template <class Work>
  void hold(int thread, Index j, bool factored, const Work& work) {
    const double start = now() - begin_;
    work();
    s_.threads[static_cast<std::size_t>(thread)].push_back({start, now() - begin_, factored ? -(j + 1) : j + 1});
  }

 private:
  State& s_;
  double begin_;
  std::vector<Detours> detours_;
};

}  // namespace lu
