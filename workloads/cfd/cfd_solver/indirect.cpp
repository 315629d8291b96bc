// One thread, neighbours by number as in R2's program.
#include "../indirect_rows.hpp"
#include "kernels/kernels.hpp"

using Solvers = cfd_solver::Solvers<cfd::Alone, cfd::IndirectRows>;

FL_KERNELS(cfd_solver, Solvers::one_grid, .traits = {.indirect = true})
