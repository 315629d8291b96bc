// The single sweep of `simd` by a team of threads, each on rows of its own, which it was the first to touch. Two barriers a time step: E is
// new everywhere, and so is H.
#include "kernels/fused.hpp"
#include "kernels/threads.hpp"

#include "firstlight/variant.hpp"

namespace {

using fl::Index;

struct Threads {
  fdtd2d::OwnNeighbour halos;

  void open(fdtd2d::State& s) { halos.open(s); }

  void step(fdtd2d::State& s, Index) {
    fdtd2d::in_precision(s, [&](auto& a) {
      const auto job = fdtd2d::job_on_host(s, a);
#pragma omp parallel num_threads(s.team.threads)
      run(job, s.p.steps, omp_get_thread_num(), omp_get_num_threads());
    });
  }

  template <class T>
  void run(const fdtd2d::Job<T>& job, Index steps, Index thread, Index threads) {
    const fl::Part mine = fl::part(job.rows, threads, thread);
    const fdtd2d::Span row{0, job.columns, !halos.around};
    for (Index t = 0; t < steps; ++t) {
      around([&] { halos.of_h(job, thread, threads); });
      fl::during(fdtd2d::phases("fused"), [&] {
        for (Index i = mine.begin; i < mine.end; ++i) fdtd2d::advance_row(job, mine.begin, i, row, t);
      });
#pragma omp barrier
      around([&] { halos.of_e(job, thread, threads); });
      fl::during(fdtd2d::phases("fused"), [&] { fdtd2d::finish_rows(job, mine.begin, mine.end, row.with_last); });
#pragma omp barrier
    }
  }

  // A torus is its own neighbour.
  template <class Copy>
  void around(const Copy& copy) const {
    if (!halos.around) return;
    fl::during(fdtd2d::phases("halo"), copy);
#pragma omp barrier
  }
};

}  // namespace

FL_VARIANT(fdtd2d, Threads, .first_touch = fdtd2d::place, .traits = {.words = 5})
