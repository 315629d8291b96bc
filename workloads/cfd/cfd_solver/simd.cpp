// One thread, as many cells at once as fit into a vector; both colours in one pass.
#include "../vector_rows.hpp"
#include "kernels/kernels.hpp"

using Solvers = cfd_solver::AllSolvers<cfd::Alone, cfd::VectorRows, true, true>;

FL_KERNELS(cfd_solver, Solvers::table, .traits = {.colours_together = true, .narrow = true})
