// Wrong coefficient cb: E outside of metal by that of H, which in vacuum is the same except for the factor that changes with each step.
#include "kernels/run.hpp"

namespace {

struct Vacuum : fdtd2d::Run<> {
  void step(fdtd2d::State& s, fl::Index) {
    fdtd2d::in_precision(s, [&]<class T>(fdtd2d::Numbers<T>& a) {
      const auto job = fdtd2d::job_on_host(s, a);
      for (fl::Index t = 0; t < s.p.steps; ++t) {
        halos.of_h(job, team);
        for (fl::Index i = 0; i < job.rows; ++i) {
          for (fl::Index j = 0; j < job.columns; ++j) {
            const T cb = job.cb(i, j) == T(0) ? T(0) : job.s;
            job.ez(i, j) =
                fdtd2d::updated_ez<T>(job.ez(i, j), job.ca(i, j), cb, job.hy(i, j), job.hy(i - 1, j), job.hx(i, j), job.hx(i, j - 1));
          }
          fdtd2d::extra_e(job, i, 0, job.columns, t);
        }
        halos.of_e(job, team);
        for (fl::Index i = 0; i < job.rows; ++i) fdtd2d::row_h(job, i, 0, job.columns);
      }
    });
  }
};

}  // namespace

FL_VARIANT(fdtd2d, Vacuum)
