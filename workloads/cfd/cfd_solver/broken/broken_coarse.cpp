// Wrong on purpose: on coarse grids faces let through what all of their parts do, as if centres lay no further apart. It converges all
// the same.
#include "kernels/kernels.hpp"

namespace {

struct Wrong : cfd::PlainRows {
  static void coarsen(const cfd::Rows& fine, const cfd::Level& level, const cfd::Mirror& mirror, cfd::System& coarse, fl::Index k,
                      fl::Index j) {
    PlainRows::coarsen(fine, level, mirror, coarse, k, j);
    for (cfd::Field& a : coarse.a)
      for (fl::Index i = 0; i < a.size()[2]; ++i) a[{k, j, i}] *= 2;
  }
};

using multigrid = cfd_solver::Multigrid<cfd::Alone, Wrong, false>;
using mgcg = cfd_solver::Multigrid<cfd::Alone, Wrong, true>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, multigrid), FL_KERNEL(cfd_solver, mgcg)};

}  // namespace

FL_KERNELS(cfd_solver, table)
