// One GPU: threads march along i with p around them in registers, coefficients past the cache.
#include "kernels/cuda_machine.hpp"
#include "kernels/device_run.hpp"

using Tuned = himeno::device::Run<himeno::device::Cuda, himeno::device::Alone, himeno::device::Registers>;
FL_VARIANT(himeno, Tuned, .traits = {.bytes_a_point = 56}, .device = &fl::device::cuda)
