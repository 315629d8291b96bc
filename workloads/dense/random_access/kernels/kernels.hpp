// CUDA: the table is on the device from set-up on; each thread makes some updates in a row.
#pragma once

#include "device.hpp"

namespace random_access {

inline constexpr unsigned in_block = 128;

template <class Change>
__global__ void update_kernel(Job job) {
  const fl::Index thread = fl::cuda::first();
  if (thread == 0) fl::device::note();
  if (thread * per_thread < job.updates) update_part(job, thread, Change());
}

__global__ void restore_kernel(Word* table, fl::Index words) {
  for (fl::Index i = fl::cuda::first(); i < words; i += fl::cuda::stride()) table[i] = static_cast<Word>(i);
}

// Makes 1/part of the updates.
template <class Change, fl::Index part>
struct Device {
  fl::cuda::Memory<Word> table, jumps;

  void open(State& s) {
    s.object = this;
    s.fetch = [](State& state) { static_cast<Device*>(state.object)->table.to(state.table.data()); };
    s.restored = [](State& state) { static_cast<Device*>(state.object)->restore(); };
    const fl::Array<Word> there = jumps_of(s.updates);
    jumps.allocate(there.size());
    jumps.from(there.data());
    table.allocate(s.words);
  }

  void restore() {
    restore_kernel<<<fl::cuda::blocks(table.size(), in_block), in_block>>>(table.data(), table.size());
    fl::cuda::finished();
  }

  void step(State& s, fl::Index) {
    const Job job{table.data(), static_cast<Word>(s.words - 1), jumps.data(), number(s.first), s.updates / part};
    update_kernel<Change><<<static_cast<unsigned>((threads_of(job.updates) + in_block - 1) / in_block), in_block>>>(job);
    fl::cuda::finished();
  }
};

}  // namespace random_access
