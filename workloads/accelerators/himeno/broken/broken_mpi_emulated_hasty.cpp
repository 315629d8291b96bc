// Wrong: halos are packed before the kernels have ended that compute them.
#include "kernels/device_halo.hpp"
#include "kernels/device_run.hpp"
#include "kernels/emulated_machine.hpp"

namespace {

namespace device = himeno::device;
struct Hasty : device::Emulated<> {
  struct Queue : fl::EmulatedQueue {
    void after_kernels() {}
  };
};
using Early = device::Run<Hasty, device::OnRanks<Hasty>, device::Registers>;

}  // namespace

FL_VARIANT(himeno, Early)
