// A block a process; Stone's and Cholesky's factors are those of the block, halos of x travel before each sweep.
#include "../ranks.hpp"
#include "../vector_rows.hpp"
#include "kernels/kernels.hpp"

using Solvers = cfd_solver::AllSolvers<cfd::Ranks<>, cfd::VectorRows, false, true>;

FL_KERNELS(cfd_solver, Solvers::table, .traits = {.narrow = true})
