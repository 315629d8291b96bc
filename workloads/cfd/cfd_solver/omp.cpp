// Threads: rows of every plane in a pipeline where a row needs the one before, planes where both colours go in one pass.
#include "../threads.hpp"
#include "../vector_rows.hpp"
#include "first_touch.hpp"
#include "kernels.hpp"

using Solvers = cfd_solver::AllSolvers<cfd::Threads, cfd::VectorRows, true, true>;

FL_KERNELS(cfd_solver, Solvers::table, .first_touch = cfd_solver::place, .traits = {.colours_together = true, .narrow = true})
