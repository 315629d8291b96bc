// CUDA: what the variants share. The side of the copy that is the device's lies there from set-up on.
#pragma once

#include "device_copy.hpp"

#include "firstlight/cuda.hpp"

namespace device_copy {

inline fl::cuda::Memory<Word> there;

inline void fetch(State& s) { there.to(s.target.data()); }
inline void poisoned(State&) { there.poison(); }

inline const void* host_memory(State& s) { return s.to_device ? s.source.data() : s.target.data(); }

inline void upload(State& s) {
  there.allocate(s.to_device ? s.words : s.source.size());
  if (s.to_device) {
    s.fetch = fetch;
    s.poisoned = poisoned;
  } else {
    there.from(s.source.data());
  }
  if (!s.pinned) return;
  const fl::Index words = s.to_device ? s.source.size() : s.target.size();
  fl::cuda::must(
      cudaHostRegister(const_cast<void*>(host_memory(s)), static_cast<std::size_t>(words) * sizeof(Word), cudaHostRegisterDefault),
      "pinning the host's memory");
}

inline void release(State& s) {
  if (s.pinned) cudaHostUnregister(const_cast<void*>(host_memory(s)));
  there.release();
}

inline void copy(State& s, fl::Index words) {
  const auto bytes = static_cast<std::size_t>(words) * sizeof(Word);
  const cudaError_t outcome = s.to_device ? cudaMemcpyAsync(there.data(), s.source.data() + s.offset, bytes, cudaMemcpyHostToDevice)
                                          : cudaMemcpyAsync(s.target.data(), there.data() + s.offset, bytes, cudaMemcpyDeviceToHost);
  fl::cuda::must(outcome, "the start of a copy");
  fl::cuda::must(cudaStreamSynchronize(nullptr), "a copy");
  fl::device::note_memory(there.data());
}

}  // namespace device_copy
