// Processor and GPU side by side: (pp,pp), whose integrals do not fit the registers of a GPU's thread, by the processor's threads, all
// other classes by the GPU meanwhile.
#include <omp.h>

#include "kernels/on_device.hpp"

namespace hartree_fock {

struct SideBySide : OnDevice<Fused<Atomically>> {
  static constexpr int mine = class_count - 1;  // of the processor

  void open(State& s) {
    team_ = s.team.threads;
    partial_.resize(static_cast<std::size_t>(team_));
  }
  void prepare(State& s) {
    tau_ = s.p.tau;
    OnDevice::prepare(s);
    tasks_.clear();
    tasks_of(pairs_, mine, tasks_);
  }
  void build(const double* density, double* g) {
    begin(density);
    for (int of = 0; of < mine; ++of) start(of);
    {
      const fl::In in(class_phases[mine]);
      draw();
    }
    fetch();
    for (const Sums& sums : partial_)
      for (std::size_t k = 0; k < sums.of.size(); ++k) sums_.of[k] += sums.of[k];
    finish(pairs_, n_, sums_, g);
  }

 private:
  void draw() {
    const auto count = static_cast<int>(tasks_.size());
#pragma omp parallel num_threads(team_)
    {
      Sums& sums = partial_[omp_get_thread_num()];
      sums.reset(pairs_, n_);
      const Digest to = density_.into(sums);
#pragma omp for schedule(dynamic, 4)
      for (int k = 0; k < count; ++k) carry_out<double>(pairs_, tasks_[k], tau_, to);
    }
  }

  int team_ = 1;
  double tau_ = 0;
  std::vector<Sums> partial_;  // of each thread
  std::vector<Bra> tasks_;
};

}  // namespace hartree_fock

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::SideBySide>, .device = &fl::device::cuda)
