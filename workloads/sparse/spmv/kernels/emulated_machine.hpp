// A device emulated by a processor, a fiber a thread. B is a thread's view of its block.
#pragma once

#include "device.hpp"
#include "firstlight/emulated_device.hpp"

namespace spmv {

template <class B = fl::Block>
struct EmulatedMachine : fl::EmulatedDevice {
  template <class Kernel>
  static void launch(const Kernel& kernel, int blocks) {
    using Shared = typename Kernel::Shared;
    fl::Started::kernels().add([=] {
      fl::each_block<Shared>({blocks}, {block_threads}, [&](const fl::Block& block, Shared& shared) { kernel(B{block}, shared); });
    });
  }
};

}  // namespace spmv
