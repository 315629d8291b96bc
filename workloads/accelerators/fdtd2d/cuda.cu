// E and H in one sweep, from one set of fields to the other: 8 numbers a cell and time step instead of 11.
#include "firstlight/grid/one_process.hpp"
#include "firstlight/variant.hpp"
#include "kernels/cuda_machine.hpp"

using OnGpu = fdtd2d::OnDevice<fdtd2d::Cuda, fl::grid::OneProcess, fdtd2d::Kernel::fused>;
FL_VARIANT(fdtd2d, OnGpu, .traits = {.words = 8}, .device = &fl::device::cuda)
