// Does nothing.
#include "cfd_solver.hpp"

#include "firstlight/variant.hpp"

namespace {

void red_black(cfd_solver::State&, fl::Index) {}

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, red_black)};

}  // namespace

FL_KERNELS(cfd_solver, table)
