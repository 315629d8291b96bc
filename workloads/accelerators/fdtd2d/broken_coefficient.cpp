// Takes every cell for vacuum or metal: the material of the array ca is left out.
#include "run.hpp"

namespace {

void step(fdtd2d::State& s, fl::Index) {
  fdtd2d::in_precision(s, [&](auto& a) {
    const auto job = fdtd2d::job_on_host(s, a);
    fl::grid::Exchange<2, fl::grid::OneProcess> halo_e, halo_h;
    halo_e.open(s.block, {.reach = fl::grid::Reach::faces}, {}, a.ez);
    halo_h.open(s.block, {.reach = fl::grid::Reach::faces}, {}, a.hx, a.hy);
    for (fl::Index t = 0; t < s.p.steps; ++t) {
      halo_h();
      for (fl::Index i = 0; i < job.rows; ++i) {
        for (fl::Index j = 0; j < job.columns; ++j)
          job.ez(i, j) += job.cb(i, j) * ((job.hy(i, j) - job.hy(i - 1, j)) - (job.hx(i, j) - job.hx(i, j - 1)));
        fdtd2d::extra_e(job, i, 0, job.columns, t);
      }
      halo_e();
      for (fl::Index i = 0; i < job.rows; ++i) fdtd2d::row_h(job, i, 0, job.columns);
    }
  });
}

}  // namespace

FL_VARIANT(fdtd2d, step)
