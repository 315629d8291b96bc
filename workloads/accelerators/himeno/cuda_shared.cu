// One GPU: blocks march through columns of points with planes of p in shared memory.
#include "kernels/cuda_machine.hpp"
#include "kernels/device_run.hpp"

using Shared = himeno::device::Run<himeno::device::Cuda, himeno::device::Alone, himeno::device::Planes>;
FL_VARIANT(himeno, Shared, .traits = {.bytes_a_point = 56}, .device = &fl::device::cuda)
