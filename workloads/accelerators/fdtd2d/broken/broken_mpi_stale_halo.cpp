// Wrong: every second time step works with the halo of H of the one before.
#include "kernels/exchanged.hpp"
#include "kernels/run.hpp"

namespace {

struct Late : fdtd2d::Run<fdtd2d::Exchanged> {
  void step(fdtd2d::State& s, fl::Index) {
    fdtd2d::in_precision(s, [&](auto& a) {
      const auto job = fdtd2d::job_on_host(s, a);
      for (fl::Index t = 0; t < s.p.steps; ++t) {
        if (t % 2 == 0) halos.of_h(job, team);
        sweep(s, [&](fl::Index i, fl::Index from, fl::Index to) { fdtd2d::row_e(job, i, from, to, t); });
        halos.of_e(job, team);
        sweep(s, [&](fl::Index i, fl::Index from, fl::Index to) { fdtd2d::row_h(job, i, from, to); });
      }
    });
  }
};

}  // namespace

FL_VARIANT(fdtd2d, Late)
