// E and H of a time step in one sweep, by SIMD.
#include "kernels/fused.hpp"

#include "firstlight/variant.hpp"

namespace {

using fl::Index;

struct Fused {
  fdtd2d::OwnNeighbour halos;

  void open(fdtd2d::State& s) { halos.open(s); }

  void step(fdtd2d::State& s, Index) {
    fdtd2d::in_precision(s, [&](auto& a) {
      const auto job = fdtd2d::job_on_host(s, a);
      const fdtd2d::Span row{0, job.columns, !halos.around};
      for (Index t = 0; t < s.p.steps; ++t) {
        fl::during(fdtd2d::phases("halo"), [&] { halos.of_h(job, 0, 1); });
        fl::during(fdtd2d::phases("fused"), [&] {
          for (Index i = 0; i < job.rows; ++i) fdtd2d::advance_row(job, 0, i, row, t);
        });
        fl::during(fdtd2d::phases("halo"), [&] { halos.of_e(job, 0, 1); });
        fl::during(fdtd2d::phases("fused"), [&] { fdtd2d::finish_rows(job, 0, job.rows, row.with_last); });
      }
    });
  }
};

}  // namespace

FL_VARIANT(fdtd2d, Fused, .traits = {.words = 5})
