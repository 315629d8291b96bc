// Wrong on purpose: a relaxation of a cycle begins with the other colour, before the coarser grids as after them. It converges all the same.
#include "kernels/kernels.hpp"

namespace {

struct Swapped : cfd::Alone {
  template <class Red, class Black>
  cfd::Sums both(const cfd::Point& size, Red red, Black black) {
    return Alone::both(size, black, red);
  }
};

using multigrid = cfd_solver::Multigrid<Swapped, cfd::PlainRows, false>;
using mgcg = cfd_solver::Multigrid<Swapped, cfd::PlainRows, true>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, multigrid), FL_KERNEL(cfd_solver, mgcg)};

}  // namespace

FL_KERNELS(cfd_solver, table)
