// Wrong on purpose: the first half sweep relaxes all cells, each from new neighbours behind it, the second one none.
#include "kernels/kernels.hpp"

namespace {

struct Wrong : cfd::PlainRows {
  static cfd::Sums relax(const cfd::Rows& m, double* x, fl::Index c, fl::Index n, fl::Index first, bool) {
    return first == 0 ? PlainRows::relax(m, x, c, n, 0, false) += PlainRows::relax(m, x, c, n, 1, false) : cfd::Sums{};
  }
};

using red_black = cfd_solver::RedBlack<cfd::Alone, Wrong>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, red_black)};

}  // namespace

FL_KERNELS(cfd_solver, table)
