// A GPU a rank: halos are packed and unpacked there, messages go through the host.
#include "firstlight/grid/mpi.hpp"
#include "firstlight/variant.hpp"
#include "kernels/cuda_machine.hpp"

using OnGpus = fdtd2d::OnDevice<fdtd2d::Cuda, fl::grid::Mpi, fdtd2d::Kernel::cells>;
FL_VARIANT(fdtd2d, OnGpus, .device = &fl::device::cuda)
