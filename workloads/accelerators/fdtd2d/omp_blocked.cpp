// The blocks of `blocked` by a team of threads: each computes bands alternately and follows the band before it a wave behind.
#include "kernels/blocked.hpp"

#include <omp.h>
#include <sched.h>

#include <atomic>
#include <memory>

#include "firstlight/variant.hpp"

namespace {

using fl::Index;

struct alignas(64) Progress {
  std::atomic<Index> waves{0};

  // Threads may share a processor with the one that they wait for.
  void await(Index wanted) const {
    for (int spins = 0; waves.load(std::memory_order_acquire) < wanted; ++spins)
      if (spins >= 1024) sched_yield();
  }
};

template <class T>
void run(const fdtd2d::Job<T>& job, const fdtd2d::Bands<T>& bands, Progress* progress, Index all_steps, Index thread, Index threads) {
  Index before = 0;  // waves of a band in all blocks of time before this one
  for (Index t = 0; t < all_steps; t += fdtd2d::depth) {
    const Index steps = std::min(fdtd2d::depth, all_steps - t), waves = job.rows + steps;
    for (Index band = thread; band < bands.count; band += threads)
      for (Index number = 0; number < waves; ++number) {
        if (band > 0) progress[band - 1].await(before + number + 1);
        fdtd2d::wave(job, bands, band, number, t, steps);
        progress[band].waves.store(before + number + 1, std::memory_order_release);
      }
    before += waves;
#pragma omp barrier
  }
}

void step(fdtd2d::State& s, Index) {
  fdtd2d::in_precision(s, [&]<class T>(fdtd2d::Numbers<T>& a) {
    const auto job = fdtd2d::job_on_host(s, a);
    const fdtd2d::Bands<T> bands(job.columns, s.team.threads);
    const std::unique_ptr<Progress[]> progress(new Progress[static_cast<std::size_t>(bands.count)]);
#pragma omp parallel num_threads(s.team.threads)
    run(job, bands, progress.get(), s.p.steps, omp_get_thread_num(), omp_get_num_threads());
  });
}

}  // namespace

FL_VARIANT(fdtd2d, step, .refuse = fdtd2d::refuse_torus, .traits = {.words = 5. / fdtd2d::depth})
