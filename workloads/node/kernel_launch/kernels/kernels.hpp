// CUDA: what the variants share.
#pragma once

#include "device.hpp"

namespace kernel_launch {

__global__ void count_kernel(Word* count, Word mine) {
  fl::device::note();
  count_one(count, mine);
}

// Starts kernels `from`, from + 1, ... of each step.
template <fl::Index from>
struct Device {
  fl::cuda::Memory<Word> there;

  void open(State& s) {
    s.object = this;
    s.fetch = [](State& state) { static_cast<Device*>(state.object)->there.to(state.count.data()); };
    s.poisoned = [](State& state) { static_cast<Device*>(state.object)->there.poison(); };
    there.allocate(1);
  }

  void step(State& s, fl::Index iteration) {
    for (fl::Index k = from; k < s.in_a_row; ++k) count_kernel<<<1, 1>>>(there.data(), number(s.in_a_row, iteration, k));
    fl::cuda::finished();
  }
};

}  // namespace kernel_launch
