// Treats every cell as vacuum or metal: the material of the array ca is left out.
#include "kernels/run.hpp"

namespace {

struct Lossless : fdtd2d::Run<> {
  void step(fdtd2d::State& s, fl::Index) {
    fdtd2d::in_precision(s, [&](auto& a) {
      const auto job = fdtd2d::job_on_host(s, a);
      for (fl::Index t = 0; t < s.p.steps; ++t) {
        halos.of_h(job, team);
        for (fl::Index i = 0; i < job.rows; ++i) {
          for (fl::Index j = 0; j < job.columns; ++j)
            job.ez(i, j) += job.cb(i, j) * ((job.hy(i, j) - job.hy(i - 1, j)) - (job.hx(i, j) - job.hx(i, j - 1)));
          fdtd2d::extra_e(job, i, 0, job.columns, t);
        }
        halos.of_e(job, team);
        for (fl::Index i = 0; i < job.rows; ++i) fdtd2d::row_h(job, i, 0, job.columns);
      }
    });
  }
};

}  // namespace

FL_VARIANT(fdtd2d, Lossless)
