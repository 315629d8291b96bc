// CUDA: arrays that lie on the device from set-up on, and a kernel an operation. Shared by the variants with and without MPI.
#pragma once

#include "device.hpp"

namespace stream {

struct Fields {
  fl::cuda::Memory<double> x, y, out;  // out: of load its one sum
};

inline Fields fields;

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

inline void fetch(State& s) { fields.out.to(s.op == Op::load ? &s.result : s.out.data()); }
inline void poisoned(State&) { fields.out.poison(); }

inline void upload(State& s) {
  s.fetch = fetch;
  s.poisoned = poisoned;
  fields.x.allocate(s.n);
  fields.x.from(s.x.data());
  if (reads_two(s.op)) {
    fields.y.allocate(s.n);
    fields.y.from(s.y.data());
  }
  fields.out.allocate(s.op == Op::load ? 1 : s.n);
}

inline void release(State&) {
  for (auto* memory : {&fields.x, &fields.y, &fields.out}) memory->release();
}

inline void step_on_device(State& s) {
  launch(s.op, {s.n, fields.x.data(), fields.y.data(), fields.out.data(), s.x[s.n - 1]});
  fl::cuda::finished();
}

}  // namespace stream
