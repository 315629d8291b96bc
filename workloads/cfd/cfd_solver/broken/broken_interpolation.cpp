// Wrong on purpose: corrections are those of the nearest coarse cell. It converges all the same.
#include "kernels/kernels.hpp"

namespace {

struct Wrong : cfd::PlainRows {
  static void prolong(const double* from, const cfd::Rows& coarse, const cfd::Level& fine, double* to, fl::Index k, fl::Index j) {
    const double* row = from + coarse.at(fine.coarse(0, k), fine.coarse(1, j));
    for (fl::Index i = 0; i < fine.size()[2]; ++i) to[i] += row[fine.coarse(2, i)];
  }
};

using mgcg = cfd_solver::Multigrid<cfd::Alone, Wrong, true>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, mgcg)};

}  // namespace

FL_KERNELS(cfd_solver, table)
