// Threads, each with a slab of planes: red-black relaxation in red-black order.
#include "../ordered_red_black.hpp"
#include "../threads.hpp"
#include "kernels/first_touch.hpp"
#include "kernels/kernels.hpp"

namespace {

using red_black = cfd_solver::Run<cfd::OrderedRedBlack<cfd_solver::Marks, cfd::Threads>>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, red_black)};

}  // namespace

FL_KERNELS(cfd_solver, table, .first_touch = cfd_solver::place, .traits = {.colours_together = true, .ordered = true})
