// Processes of threads: a block a process, whose rows its threads share.
#include "../ranks.hpp"
#include "../threads.hpp"
#include "../vector_rows.hpp"
#include "kernels/kernels.hpp"

using Solvers = cfd_solver::AllSolvers<cfd::Ranks<cfd::Threads>, cfd::VectorRows>;

FL_KERNELS(cfd_solver, Solvers::table)
