// CUDA: arrays that are on the device from set-up on, and a kernel an operation. Shared by the variants with and without MPI.
#pragma once

#include "device.hpp"

namespace stream {

template <Op op>
__global__ void store_kernel(Job job) {
  if (fl::cuda::first() == 0) fl::device::note();
  store_part<op>(job, fl::cuda::first(), fl::cuda::stride());
}

// All values are exact and so are their sums, in any order.
__global__ void load_kernel(Job job) {
  if (fl::cuda::first() == 0) fl::device::note();
  double sum = load_part(job, fl::cuda::first(), fl::cuda::stride());
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, apart);
  if (threadIdx.x % 32 == 0) atomicAdd(job.out, sum);
}

inline void launch(Op op, const Job& job) {
  constexpr unsigned threads = 256;
  const unsigned blocks = fl::cuda::blocks(job.n, threads);
  switch (op) {
    case Op::copy:
      store_kernel<Op::copy><<<blocks, threads>>>(job);
      break;
    case Op::scale:
      store_kernel<Op::scale><<<blocks, threads>>>(job);
      break;
    case Op::add:
      store_kernel<Op::add><<<blocks, threads>>>(job);
      break;
    case Op::triad:
      store_kernel<Op::triad><<<blocks, threads>>>(job);
      break;
    case Op::load:
      fl::cuda::must(cudaMemsetAsync(job.out, 0, sizeof(double)), "the sum");
      load_kernel<<<blocks, threads>>>(job);
  }
}

struct Device {
  fl::cuda::Memory<double> x, y, out;  // out: of load its one sum

  void open(State& s) {
    s.object = this;
    s.fetch = [](State& state) { static_cast<Device*>(state.object)->out.to(state.op == Op::load ? &state.result : state.out.data()); };
    s.poisoned = [](State& state) { static_cast<Device*>(state.object)->out.poison(); };
    s.changed = [](State& state, fl::Index i) {
      auto* there = static_cast<Device*>(state.object);
      there->x.from(state.x.data(), i);
      if (reads_two(state.op)) there->y.from(state.y.data(), i);
    };
    x.allocate(s.n);
    x.from(s.x.data());
    if (reads_two(s.op)) {
      y.allocate(s.n);
      y.from(s.y.data());
    }
    out.allocate(s.op == Op::load ? 1 : s.n);
  }

  void step(State& s, fl::Index) {
    launch(s.op, {s.n, x.data(), y.data(), out.data(), s.x[s.n - 1]});
    fl::cuda::finished();
  }
};

}  // namespace stream
