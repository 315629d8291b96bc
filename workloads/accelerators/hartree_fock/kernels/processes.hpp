// Processes draw bras from one counter, a few at a time: a process that is done early draws more. All have the whole density and sums of their own,
// which are added at the end; the first makes G of them and sends it to all, so that every process goes on with the same bits.
#pragma once

#include <algorithm>

#include "firstlight/simd.hpp"
#include "firstlight/window.hpp"
#include "run.hpp"
#include "tasks.hpp"

namespace hartree_fock {

// A number that lives on the first process and only grows.
class Counter {
 public:
  void open() {
    window_.open(sizeof(long long), false);
    *reinterpret_cast<long long*>(window_.memory()) = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_.handle());
  }
  void close() {
    MPI_Win_unlock_all(window_.handle());
    window_.close();
  }
  // Another one for each call of any process, counted from `first`.
  long long next(long long first) const {
    const long long one = 1;
    long long mine = 0;
    MPI_Fetch_and_op(&one, &mine, MPI_LONG_LONG, 0, 0, MPI_SUM, window_.handle());
    MPI_Win_flush(0, window_.handle());
    return mine - first;
  }

 private:
  fl::Window window_;
};

template <class Counter>
struct Processes {
  using V = fl::simd::native<double>;
  static constexpr long long handful = 4;  // tasks to a number of the counter

  void open(State& s) {
    ranks_ = s.team.ranks, rank_ = s.team.rank;
    counter_.open();
  }
  void close(State&) { counter_.close(); }

  void prepare(State& s) {
    n_ = static_cast<int>(s.n), tau_ = s.p.tau;
    pairs_ = Pairs::of<V>(s.shells);
    tasks_.clear();
    for (int of = class_count; of-- > 0;) tasks_of(pairs_, of, tasks_);  // the longest quartets first
  }

  void build(const double* density, double* g) {
    density_.take(pairs_, n_, density);
    sums_.reset(pairs_, n_);
    quartets_ = {};
    const Digest to = density_.into(sums_);
    const auto count = static_cast<long long>(tasks_.size()), numbers = (count + handful - 1) / handful;
    for (long long number = counter_.next(drawn_); number < numbers; number = counter_.next(drawn_))
      for (long long k = number * handful; k < std::min(count, (number + 1) * handful); ++k) {
        const fl::In in(class_phases[tasks_[k].of]);
        quartets_[tasks_[k].of] += carry_out<V>(pairs_, tasks_[k], tau_, to);
      }
    drawn_ += numbers + ranks_;       // each has drawn one that was none
    const fl::In in(phases("sums"));  // and waiting for who draws the last
    add(g);
  }
  std::array<fl::Index, class_count> quartets() const { return quartets_; }

 private:
  void add(double* g) {
    const auto size = static_cast<int>(sums_.of.size());
    MPI_Reduce(rank_ == 0 ? MPI_IN_PLACE : sums_.of.data(), rank_ == 0 ? sums_.of.data() : nullptr, size, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    if (rank_ == 0) finish(pairs_, n_, sums_, g);
    MPI_Bcast(g, n_ * n_, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }

  int ranks_ = 1, rank_ = 0, n_ = 0;
  double tau_ = 0;
  long long drawn_ = 0;  // of the counter, by all, before this matrix
  Counter counter_;
  Pairs pairs_;
  Density density_;
  Sums sums_;
  std::vector<Bra> tasks_;
  std::array<fl::Index, class_count> quartets_{};
};

}  // namespace hartree_fock
