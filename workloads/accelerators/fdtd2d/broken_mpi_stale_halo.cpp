// Wrong: every second time step works with the halo of H of the one before.
#include "firstlight/grid/mpi.hpp"
#include "run.hpp"

namespace {

struct Late : fdtd2d::Run<fl::grid::Exchange<2, fl::grid::Mpi>> {
  void step(fdtd2d::State& s, fl::Index) {
    fdtd2d::in_precision(s, [&](auto& a) {
      const auto job = fdtd2d::job_on_host(s, a);
      for (fl::Index t = 0; t < s.p.steps; ++t) {
        if (t % 2 == 0) halo_h();
        sweep(s, [&](fl::Index i, fl::Index from, fl::Index to) { fdtd2d::row_e(job, i, from, to, t); });
        halo_e();
        sweep(s, [&](fl::Index i, fl::Index from, fl::Index to) { fdtd2d::row_h(job, i, from, to); });
      }
    });
  }
};

}  // namespace

FL_VARIANT(fdtd2d, Late)
