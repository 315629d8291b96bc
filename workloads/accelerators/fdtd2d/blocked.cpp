// Blocks of twelve time steps in the second-level cache, on one core.
#include "kernels/blocked.hpp"

#include "firstlight/variant.hpp"

namespace {

using fl::Index;

void step(fdtd2d::State& s, Index) {
  fdtd2d::in_precision(s, [&]<class T>(fdtd2d::Numbers<T>& a) {
    const auto job = fdtd2d::job_on_host(s, a);
    const fdtd2d::Bands<T> bands(job.columns, 1);
    for (Index t = 0; t < s.p.steps; t += fdtd2d::depth) {
      const Index steps = std::min(fdtd2d::depth, s.p.steps - t);
      for (Index band = 0; band < bands.count; ++band)
        for (Index number = 0; number < job.rows + steps; ++number) fdtd2d::wave(job, bands, band, number, t, steps);
    }
  });
}

}  // namespace

FL_VARIANT(fdtd2d, step, .refuse = fdtd2d::refuse_torus, .traits = {.words = 5. / fdtd2d::depth})
