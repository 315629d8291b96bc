// Wrong: a kernel writes behind the end of the result in the memory of the device.
#include "kernels/emulated_machine.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Beyond : spmv::EmulatedMachine<> {
  template <class Kernel>
  static void launch(const Kernel& kernel, int blocks) {
    EmulatedMachine::launch(kernel, blocks);
    fl::Started::kernels().add([=] { kernel.y[kernel.rows] = 1; });
  }
};

using sell = spmv::SellOnDevice<Beyond>;

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, sell)};

}  // namespace

FL_KERNELS(spmv, table)
