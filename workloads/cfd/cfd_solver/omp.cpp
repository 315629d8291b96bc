// Threads: rows of every plane in a pipeline where a row needs the one before, planes where both colours go in one pass.
#include "../threads.hpp"
#include "../vector_rows.hpp"
#include "kernels/first_touch.hpp"
#include "kernels/kernels.hpp"

using Solvers = cfd_solver::AllSolvers<cfd::Threads, cfd::VectorRows, true, true>;

FL_KERNELS(cfd_solver, Solvers::table, .first_touch = cfd_solver::place, .traits = {.colours_together = true, .narrow = true})
