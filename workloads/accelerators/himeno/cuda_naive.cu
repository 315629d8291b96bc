// One GPU, a thread a point, as the loops would be written.
#include "kernels/cuda_machine.hpp"
#include "kernels/device_run.hpp"

using Naive = himeno::device::Run<himeno::device::Cuda, himeno::device::Alone, himeno::device::Naive>;
FL_VARIANT(himeno, Naive, .traits = {.bytes_a_point = 56}, .device = &fl::device::cuda)
