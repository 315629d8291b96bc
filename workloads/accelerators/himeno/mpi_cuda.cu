// A GPU a rank: halos are packed there and travel while the points are computed that need none.
#include "kernels/cuda_machine.hpp"
#include "kernels/device_halo.hpp"
#include "kernels/device_run.hpp"

using Tuned = himeno::device::Run<himeno::device::Cuda, himeno::device::OnRanks<himeno::device::Cuda>, himeno::device::Registers>;
FL_VARIANT(himeno, Tuned, .traits = {.bytes_a_point = 56}, .device = &fl::device::cuda)
