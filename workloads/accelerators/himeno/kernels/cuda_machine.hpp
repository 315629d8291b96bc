// CUDA: memory on the device, kernels in its default stream, and a separate queue.
#pragma once

#include "../cuda_queue.hpp"
#include "firstlight/cuda.hpp"
#include "kernels.hpp"

namespace himeno::device {

template <class Kernel>
__global__ void run(Job job) {
  __shared__ typename Kernel::Shared shared;
  const fl::Block block = fl::here();
  if (block.number() == 0) fl::device::note();
  Kernel::run(block, shared, job);
}

struct Cuda {
  template <class T>
  using Memory = fl::cuda::Memory<T>;

  static void zero(Memory<double>& memory) { fl::cuda::must(cudaMemsetAsync(memory.data(), 0, memory.bytes()), "the sum"); }
  template <class Kernel>
  static void launch(const Job& job) {
    const Extent blocks = Kernel::blocks(job), threads = Kernel::threads;
    run<Kernel><<<dimensions(blocks), dimensions(threads)>>>(job);
  }
  static void finish() { fl::cuda::finished(); }

  template <class T>
  using Pinned = accelerators::Pinned<T>;
  using Queue = accelerators::CudaQueue;

 private:
  static dim3 dimensions(const Extent& e) {
    return dim3(static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z));
  }
};

}  // namespace himeno::device
