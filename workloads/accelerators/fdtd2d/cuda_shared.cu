// Neighbours from shared memory.
#include "firstlight/grid/one_process.hpp"
#include "firstlight/variant.hpp"
#include "kernels/cuda_machine.hpp"

using OnGpu = fdtd2d::OnDevice<fdtd2d::Cuda, fl::grid::OneProcess, fdtd2d::Kernel::tiles>;
FL_VARIANT(fdtd2d, OnGpu, .device = &fl::device::cuda)
