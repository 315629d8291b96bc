// CUDA: memory on the device, and launches of one thread a cell (cell_work.hpp).
#pragma once

#include "firstlight/block.hpp"
#include "firstlight/cuda.hpp"

namespace cfd {

template <class Work>
__global__ void run_cells(Work work, double* sum) {
  constexpr int threads = 128;
  __shared__ double shared[threads];
  const fl::Block block = fl::here();
  if (block.number() == 0) fl::device::note();
  const fl::Index n = fl::cuda::first();
  const double all = fl::sum_of_block<threads>(block, shared, n < work.count() ? work(n) : 0.0);
  if (block.number() == 0 && all != 0) fl::add(sum, all);
}

class CudaMachine {
 public:
  using Memory = fl::cuda::Memory<double>;

  CudaMachine() { sum_.allocate(1); }
  template <class Work>
  void each(const Work& work) {
    constexpr unsigned threads = 128;
    run_cells<<<static_cast<unsigned>((work.count() + threads - 1) / threads), threads>>>(work, sum_.data());
  }
  // Returns the sum of what was launched since the last call.
  double sum() {
    double all = 0;
    sum_.to(&all);
    zero();
    return all;
  }
  void zero() { fl::cuda::must(cudaMemset(sum_.data(), 0, sizeof(double)), "the sum"); }
  static void finish() { fl::cuda::finished(); }

 private:
  Memory sum_;
};

}  // namespace cfd
