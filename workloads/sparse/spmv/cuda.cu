// One GPU.
#include "kernels/device.hpp"

#include "firstlight/cuda.hpp"
#include "firstlight/variant.hpp"

namespace {

template <class Kernel>
__global__ void run(Kernel kernel) {
  __shared__ typename Kernel::Shared shared;
  const fl::Block block = fl::here();
  if (block.number() == 0) fl::device::note();
  kernel(block, shared);
}

struct Cuda {
  template <class T>
  using Memory = fl::cuda::Memory<T>;

  template <class Kernel>
  static void launch(const Kernel& kernel, int blocks) {
    run<<<static_cast<unsigned>(blocks), spmv::block_threads>>>(kernel);
  }
  static void finish() { fl::cuda::finished(); }
};

using Formats = spmv::DeviceFormats<Cuda>;

}  // namespace

FL_KERNELS(spmv, Formats::table, .device = &fl::device::cuda)
