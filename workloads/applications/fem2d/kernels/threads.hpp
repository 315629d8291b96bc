// The parties are threads of one process: they read each other's messages where they are.
#pragma once

#include <omp.h>

#include "fem2d.hpp"

namespace fem2d {

// Sums in the order of the parties, so that every run adds the same numbers in the same order.
class Crew {
 public:
  explicit Crew(State& s) : s_(s), parts_(s.blocks.size()) {}

  // Where this process's links find their messages; those of other processes are none of its business.
  void connect() {
    const int first = s_.blocks.front().number, all = static_cast<int>(s_.blocks.size());
    for (Block& b : s_.blocks)
      for (Link& link : b.links) {
        const int other = link.block - first;
        if (other < 0 || other >= all) continue;
        for (const Link& back : s_.blocks[static_cast<std::size_t>(other)].links)
          if (back.block == b.number) link.arriving = back.out.data();
      }
  }

  // Called by every thread; between() by one of them, while the sum is in its hands and the others wait.
  template <class Between>
  void sum(int me, double* values, fl::Index count, Between between) {
    parts_[static_cast<std::size_t>(me)] = values;
#pragma omp barrier
    if (me == 0) {
      total_.assign(static_cast<std::size_t>(count), 0.0);
      for (const double* part : parts_)
        for (fl::Index i = 0; i < count; ++i) total_[static_cast<std::size_t>(i)] += part[i];
      between(total_.data(), count);
    }
#pragma omp barrier
    std::copy_n(total_.begin(), count, values);
#pragma omp barrier
  }

 private:
  State& s_;
  std::vector<const double*> parts_;
  std::vector<double> total_;
};

// One of them, where there are no other processes.
struct Thread {
  Crew& crew;
  int me;

  void sum(double* values, fl::Index count) {
    crew.sum(me, values, count, [](double*, fl::Index) {});
  }
  void swap(Block&, std::size_t = 0) {
#pragma omp barrier
  }
};

inline void first_touch(State& s) {
#pragma omp parallel num_threads(s.team.threads)
  place(s, static_cast<std::size_t>(omp_get_thread_num()));
}

// `solve(me)` in every thread; all come to the same outcome.
template <class Solve>
void in_threads(State& s, Solve solve) {
#pragma omp parallel num_threads(s.team.threads)
  {
    const int me = omp_get_thread_num();
    const Outcome outcome = solve(me);
    if (me == 0) s.outcome = outcome;
  }
}

}  // namespace fem2d
