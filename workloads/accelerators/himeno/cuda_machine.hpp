// CUDA: memory on the device, kernels in its default stream, and a queue beside it.
#pragma once

#include "firstlight/cuda.hpp"
#include "kernels.hpp"

namespace himeno::inline FL_ROLE::device {

template <class Kernel>
__global__ void run(Job job) {
  __shared__ typename Kernel::Shared shared;
  const fl::Block block = fl::here();
  if (block.number() == 0) fl::device::note();
  Kernel::run(block, shared, job);
}

template <class Work>
__global__ void run_each(Index count, Work work) {
  for (Index n = fl::cuda::first(); n < count; n += fl::cuda::stride()) work(n);
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

  // Memory of the host that the device copies from and to by itself.
  template <class T>
  class Pinned {
   public:
    Pinned() = default;
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() { cudaFreeHost(data_); }
    void allocate(Index size) {
      fl::cuda::must(cudaMallocHost(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(size) * sizeof(T)), "pinned memory");
    }
    T* data() { return data_; }

   private:
    T* data_ = nullptr;
  };

  class Queue {
   public:
    Queue() = default;
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    ~Queue() {
      if (stream_ != nullptr) cudaStreamDestroy(stream_);
    }
    template <class Work>
    void each(Index count, const Work& work) {
      run_each<<<fl::cuda::blocks(count, 256), 256, 0, stream()>>>(count, work);
    }
    void to_device(float* to, const float* from, Index count) { copy(to, from, count, cudaMemcpyHostToDevice); }
    void to_host(float* to, const float* from, Index count) { copy(to, from, count, cudaMemcpyDeviceToHost); }
    void finish() { fl::cuda::must(cudaStreamSynchronize(stream()), "halos on the GPU"); }

   private:
    // The harness has chosen the device by the first use.
    cudaStream_t stream() {
      if (stream_ == nullptr) fl::cuda::must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
      return stream_;
    }
    void copy(float* to, const float* from, Index count, cudaMemcpyKind kind) {
      fl::cuda::must(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(float), kind, stream()), "a copy of halos");
    }

    cudaStream_t stream_ = nullptr;
  };

 private:
  static dim3 dimensions(const Extent& e) {
    return dim3(static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z));
  }
};

}  // namespace himeno::inline FL_ROLE::device
