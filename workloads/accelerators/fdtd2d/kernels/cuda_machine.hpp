// Where kernels run: a GPU.
#pragma once

#include "../cuda_queue.hpp"
#include "device_run.hpp"
#include "firstlight/cuda.hpp"

namespace fdtd2d {

template <class Body>
__global__ void kernel(const Body body) {
  if (threadIdx.x + threadIdx.y + blockIdx.x + blockIdx.y == 0) fl::device::note();
  __shared__ typename Body::Shared shared;
  body(fl::here(), shared);
}

struct Cuda {
  template <class T>
  using Memory = fl::cuda::Memory<T>;
  template <class T>
  using Pinned = accelerators::Pinned<T>;
  using Queue = accelerators::CudaQueue;

  template <class Body>
  static void launch(const fl::Extent& blocks, const fl::Extent& threads, const Body& body) {
    const auto words = [](const fl::Extent& e) { return dim3(static_cast<unsigned>(e.x), static_cast<unsigned>(e.y)); };
    kernel<<<words(blocks), words(threads)>>>(body);
  }
  static void finish() { fl::cuda::finished(); }
};

}  // namespace fdtd2d
