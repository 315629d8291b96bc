// CUDA: a queue separate from the kernels of the default stream, and memory of the host for its copies.
#pragma once

#include "firstlight/cuda.hpp"

namespace accelerators {

template <class Work>
__global__ void run_each(fl::Index count, Work work) {
  for (fl::Index n = fl::cuda::first(); n < count; n += fl::cuda::stride()) work(n);
}

// Memory of the host that the device copies from and to by itself.
template <class T>
class Pinned {
 public:
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { cudaFreeHost(data_); }
  void allocate(fl::Index size) {
    cudaFreeHost(data_);
    data_ = nullptr;
    fl::cuda::must(cudaMallocHost(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(size) * sizeof(T)), "pinned memory");
  }
  T* data() { return data_; }

 private:
  T* data_ = nullptr;
};

class CudaQueue {
 public:
  CudaQueue() = default;
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  ~CudaQueue() {
    if (stream_ == nullptr) return;
    cudaEventDestroy(kernels_);
    cudaStreamDestroy(stream_);
  }
  void after_kernels() {
    const cudaStream_t mine = stream();
    fl::cuda::must(cudaEventRecord(kernels_, nullptr), "an event after kernels");
    fl::cuda::must(cudaStreamWaitEvent(mine, kernels_, 0), "waiting for kernels");
  }
  template <class Work>
  void each(fl::Index count, const Work& work) {
    run_each<<<fl::cuda::blocks(count, 256), 256, 0, stream()>>>(count, work);
  }
  template <class T>
  void to_device(T* to, const T* from, fl::Index count) {
    copy(to, from, count, cudaMemcpyHostToDevice);
  }
  template <class T>
  void to_host(T* to, const T* from, fl::Index count) {
    copy(to, from, count, cudaMemcpyDeviceToHost);
  }
  void finish() { fl::cuda::must(cudaStreamSynchronize(stream()), "halos on the GPU"); }

 private:
  // The harness has chosen the device by the first use. A stream waits for the default one only on request.
  cudaStream_t stream() {
    if (stream_ == nullptr) {
      fl::cuda::must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
      fl::cuda::must(cudaEventCreateWithFlags(&kernels_, cudaEventDisableTiming), "an event");
    }
    return stream_;
  }
  template <class T>
  void copy(T* to, const T* from, fl::Index count, cudaMemcpyKind kind) {
    fl::cuda::must(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T), kind, stream()), "a copy of halos");
  }

  cudaStream_t stream_ = nullptr;
  cudaEvent_t kernels_ = nullptr;
};

}  // namespace accelerators
