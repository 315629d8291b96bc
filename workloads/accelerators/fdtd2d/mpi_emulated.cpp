// What devices run, on processors: kernel after kernel, halos packed and unpacked as on a device. To be checked, not to be fast.
#include "firstlight/grid/mpi.hpp"
#include "firstlight/variant.hpp"
#include "kernels/emulated_machine.hpp"

using fdtd2d::Kernel;
using InTurn = fdtd2d::OnDevice<fdtd2d::Emulated<>, fl::grid::Mpi, Kernel::cells, Kernel::tiles, Kernel::fused>;
FL_VARIANT(fdtd2d, InTurn)
