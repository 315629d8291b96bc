// A block a process; halos of x, or of a direction, travel while the cells that need none are computed, where their order is free.
#include "../ranks.hpp"
#include "../vector_rows.hpp"
#include "kernels/kernels.hpp"

using Solvers = cfd_solver::Solvers<cfd::Overlapping, cfd::VectorRows>;

FL_KERNELS(cfd_solver, Solvers::one_grid)
