// All threads of a process: each draws bras, and sums into arrays of its own, which are added at the end.
#include <omp.h>

#include "firstlight/simd.hpp"
#include "kernels/run.hpp"
#include "kernels/tasks.hpp"

namespace hartree_fock {

struct Threads {
  using V = fl::simd::native<double>;

  void open(State& s) {
    team_ = s.team.threads;
    sums_.resize(static_cast<std::size_t>(team_));
  }
  void prepare(State& s) {
    n_ = static_cast<int>(s.n), tau_ = s.p.tau;
    pairs_ = Pairs::of<V>(s.shells, [&](std::ptrdiff_t count, auto&& body) {
#pragma omp parallel for num_threads(team_) schedule(dynamic, 1)
      for (std::ptrdiff_t k = count - 1; k >= 0; --k) body(k);  // the longest first
    });
    for (int of = 0; of < class_count; ++of) tasks_[of].clear(), tasks_of(pairs_, of, tasks_[of]);
  }
  void build(const double* density, double* g) {
    density_.take(pairs_, n_, density);
#pragma omp parallel for num_threads(team_) schedule(static, 1)
    for (int thread = 0; thread < team_; ++thread) sums_[thread].reset(pairs_, n_);
    for (int of = 0; of < class_count; ++of) {
      const fl::In in(class_phases[of]);
      quartets_[of] = draw(tasks_[of]);
    }
    const fl::In in(phases("sums"));
    add();
    finish(pairs_, n_, sums_.front(), g);
  }
  std::array<fl::Index, class_count> quartets() const { return quartets_; }

 private:
  fl::Index draw(const std::vector<Bra>& tasks) {
    fl::Index quartets = 0;
    const auto count = static_cast<int>(tasks.size());
#pragma omp parallel num_threads(team_) reduction(+ : quartets)
    {
      const Digest to = density_.into(sums_[omp_get_thread_num()]);
#pragma omp for schedule(dynamic, 4)
      for (int k = 0; k < count; ++k) quartets += carry_out<V>(pairs_, tasks[k], tau_, to);
    }
    return quartets;
  }
  void add() {
    const auto size = static_cast<std::ptrdiff_t>(sums_.front().of.size());
#pragma omp parallel for num_threads(team_) schedule(static)
    for (std::ptrdiff_t k = 0; k < size; ++k)
      for (int thread = 1; thread < team_; ++thread) sums_.front().of[k] += sums_[thread].of[k];
  }

  int team_ = 1, n_ = 0;
  double tau_ = 0;
  Pairs pairs_;
  Density density_;
  std::vector<Sums> sums_;  // of each thread
  std::vector<Bra> tasks_[class_count];
  std::array<fl::Index, class_count> quartets_{};
};

}  // namespace hartree_fock

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::Threads>)
