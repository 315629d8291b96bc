// One thread, neighbours by number as in R2's program.
#include "../indirect_rows.hpp"
#include "solvers.hpp"

namespace {

using Machine = cfd::Alone;
using Body = cfd::IndirectRows;
using sip = cfd_solver::Stone<Machine, Body>;
using red_black = cfd_solver::RedBlack<Machine, Body>;
using cg = cfd_solver::ConjugateGradients<Machine, Body, false>;
using iccg = cfd_solver::ConjugateGradients<Machine, Body, true>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, sip), FL_KERNEL(cfd_solver, red_black), FL_KERNEL(cfd_solver, cg),
                                FL_KERNEL(cfd_solver, iccg)};

}  // namespace

FL_KERNELS(cfd_solver, table, .traits = {.indirect = true})
