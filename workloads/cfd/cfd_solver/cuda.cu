// One GPU, a thread a cell.
#include "../cuda_machine.hpp"
#include "kernels/device_solvers.hpp"

using Solvers = cfd_solver::DeviceSolvers<cfd::CudaMachine>;

FL_KERNELS(cfd_solver, Solvers::table, .device = &fl::device::cuda)
