// What the CUDA variants do, on devices emulated by processors: their kernels one after the other, thread by thread, and their halos. It measures
// nothing; by it the checks see what runs on a GPU where there is none.
#include "kernels/device_halo.hpp"
#include "kernels/device_run.hpp"
#include "kernels/emulated_machine.hpp"

namespace {

namespace device = himeno::device;
using Machine = device::Emulated<>;
using InTurn = device::Run<Machine, device::OnRanks<Machine>, device::Planes, device::Registers, device::Naive>;

}  // namespace

FL_VARIANT(himeno, InTurn)
