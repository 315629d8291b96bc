// A device emulated by a processor, a fiber a thread. B is a thread's view of its block.
#pragma once

#include "firstlight/emulated_device.hpp"
#include "kernels.hpp"

namespace himeno::device {

template <class B = fl::Block>
struct Emulated : fl::EmulatedDevice {
  static void zero(Memory<double>& memory) {
    fl::Started::kernels().add([where = memory.data()] { *where = 0; });
  }
  template <class Kernel>
  static void launch(const Job& job) {
    using Shared = typename Kernel::Shared;
    fl::Started::kernels().add([job] {
      fl::each_block<Shared>(Kernel::blocks(job), Kernel::threads,
                             [&](const fl::Block& block, Shared& shared) { Kernel::run(B{block}, shared, job); });
    });
  }
};

}  // namespace himeno::device
