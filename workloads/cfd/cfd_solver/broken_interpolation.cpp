// Wrong on purpose: corrections are those of the nearest coarse cell. It converges all the same.
#include "kernels.hpp"

namespace {

struct Wrong : cfd::PlainRows {
  static void prolong(const double* from, const cfd::Rows& coarse, const cfd::Point& size, double* to, fl::Index k, fl::Index j) {
    for (fl::Index i = 0; i < size[2]; ++i) to[i] += from[coarse.at(k / 2, j / 2) + i / 2];
  }
};

using mgcg = cfd_solver::Multigrid<cfd::Alone, Wrong, true>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, mgcg)};

}  // namespace

FL_KERNELS(cfd_solver, table)
