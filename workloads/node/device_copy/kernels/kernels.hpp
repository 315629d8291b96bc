// CUDA: what the variants share. The side of the copy that is the device's is there from set-up on.
#pragma once

#include "device_copy.hpp"

#include "firstlight/cuda.hpp"

namespace device_copy {

// Copies the first 1/part of the words.
template <fl::Index part>
struct Device {
  fl::cuda::Memory<Word> there;

  static void* host_memory(State& s) { return s.to_device ? s.source.data() : s.target.data(); }

  void open(State& s) {
    there.allocate(s.to_device ? s.words : s.source.size());
    if (s.to_device) {
      s.object = this;
      s.fetch = [](State& state) { static_cast<Device*>(state.object)->there.to(state.target.data()); };
      s.poisoned = [](State& state) { static_cast<Device*>(state.object)->there.poison(); };
    } else {
      s.object = this;
      s.changed = [](State& state, fl::Index i) { static_cast<Device*>(state.object)->there.from(state.source.data(), i); };
      there.from(s.source.data());
    }
    if (!s.pinned) return;
    const fl::Index words = s.to_device ? s.source.size() : s.target.size();
    fl::cuda::must(cudaHostRegister(host_memory(s), static_cast<std::size_t>(words) * sizeof(Word), cudaHostRegisterDefault),
                   "pinning the host's memory");
  }

  void step(State& s, fl::Index) {
    const auto bytes = static_cast<std::size_t>(s.words / part) * sizeof(Word);
    const cudaError_t outcome = s.to_device ? cudaMemcpyAsync(there.data(), s.source.data() + s.offset, bytes, cudaMemcpyHostToDevice)
                                            : cudaMemcpyAsync(s.target.data(), there.data() + s.offset, bytes, cudaMemcpyDeviceToHost);
    fl::cuda::must(outcome, "the start of a copy");
    fl::cuda::must(cudaStreamSynchronize(nullptr), "a copy");
    fl::device::note_memory(there.data());
  }

  void close(State& s) {
    if (s.pinned) cudaHostUnregister(host_memory(s));
  }
};

}  // namespace device_copy
