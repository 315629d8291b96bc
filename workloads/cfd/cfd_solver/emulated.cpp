// What the variants for devices do, launch by launch, as loops on a processor. It measures nothing; by it the checks see what runs on a
// GPU where there is none.
#include "../emulated_machine.hpp"
#include "kernels/device_solvers.hpp"

using Solvers = cfd_solver::DeviceSolvers<cfd::EmulatedMachine>;

FL_KERNELS(cfd_solver, Solvers::table)
