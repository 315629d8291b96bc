// Wrong: the kernel with planes in shared memory without its barriers, so that a thread may use what its neighbour has yet to bring.
#include "kernels/device_run.hpp"
#include "kernels/emulated_machine.hpp"

namespace {

namespace device = himeno::device;
struct Deaf : fl::Block {
  void barrier() const {}
};
using Machine = device::Emulated<Deaf>;
using Early = device::Run<Machine, device::Alone, device::Planes>;

}  // namespace

FL_VARIANT(himeno, Early)
