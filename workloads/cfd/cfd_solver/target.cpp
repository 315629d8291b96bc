// OpenMP on a device: all cells of a launch at once.
#include "../target_machine.hpp"
#include "kernels/device_solvers.hpp"

using Solvers = cfd_solver::DeviceSolvers<cfd::TargetMachine>;

FL_KERNELS(cfd_solver, Solvers::table, .device = &fl::device::openmp)
