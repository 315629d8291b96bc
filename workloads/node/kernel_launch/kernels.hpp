// CUDA: what the variants share.
#pragma once

#include "device.hpp"

namespace kernel_launch {

inline fl::cuda::Memory<Word> there;

inline void fetch(State& s) { there.to(s.count.data()); }
inline void poisoned(State&) { there.poison(); }

inline void prepare(State& s) {
  s.fetch = fetch;
  s.poisoned = poisoned;
  there.allocate(1);
}

inline void release(State&) { there.release(); }

__global__ void count_kernel(Word* count, Word mine, bool first) {
  fl::device::note();
  count_one(count, mine, first);
}

// Kernels `first`, first + 1, ... of a step.
inline void start(State& s, fl::Index iteration, fl::Index first = 0) {
  for (fl::Index k = first; k < s.in_a_row; ++k) count_kernel<<<1, 1>>>(there.data(), number(s.in_a_row, iteration, k), k == 0);
  fl::cuda::finished();
}

}  // namespace kernel_launch
