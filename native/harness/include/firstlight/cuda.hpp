// What variants in CUDA share: memory on the device, and errors reported in one line.
#pragma once

#include "firstlight/host_device.hpp"
#include "firstlight/workload.hpp"

#if defined(__CUDACC__)

#include <utility>

#include "firstlight/device.hpp"

namespace fl::inline FL_ROLE::cuda {

inline void must(cudaError_t outcome, const char* what) {
  if (outcome == cudaSuccess) return;
  abort_all(text("%s: %s", what, cudaGetErrorString(outcome)));
}

// The kernels of a step have ended, well.
inline void finished() {
  must(cudaGetLastError(), "the start of a kernel");
  must(cudaDeviceSynchronize(), "a kernel");
}

// `size` elements on the device; every number in it a NaN at first.
template <class T>
class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Memory() { cudaFree(data_); }

  void allocate(Index size) {
    *this = {};
    size_ = size;
    must(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "allocation on the GPU");
    poison();
  }
  void poison() { must(cudaMemset(data_, 0xFF, bytes()), "poison on the GPU"); }
  void from(const T* host) { must(cudaMemcpy(data_, host, bytes(), cudaMemcpyHostToDevice), "a copy to the GPU"); }
  // Element i alone.
  void from(const T* host, Index i) { must(cudaMemcpy(data_ + i, host + i, sizeof(T), cudaMemcpyHostToDevice), "a copy to the GPU"); }
  void to(T* host) const { must(cudaMemcpy(host, data_, bytes(), cudaMemcpyDeviceToHost), "a copy from the GPU"); }

  T* data() const { return data_; }
  Index size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

 private:
  T* data_ = nullptr;
  Index size_ = 0;
};

// Number of this thread in the whole grid, and how many there are.
__device__ inline Index first() { return static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline Index stride() { return static_cast<Index>(gridDim.x) * blockDim.x; }

// Blocks that fill the device a few times over; kernels walk the rest by the stride.
inline unsigned blocks(Index size, unsigned threads) {
  int number = 0, processors = 1;
  must(cudaGetDevice(&number), "the device");
  must(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, number), "the device");
  const Index wanted = (size + threads - 1) / threads, most = Index{32} * processors;
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

}  // namespace fl::inline FL_ROLE::cuda

#endif
