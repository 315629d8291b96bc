// One thread, a cell after the other, neighbours by computed strides: what every other variant is compared with.
#include "kernels/kernels.hpp"

using Solvers = cfd_solver::AllSolvers<cfd::Alone, cfd::PlainRows>;

FL_KERNELS(cfd_solver, Solvers::table)
