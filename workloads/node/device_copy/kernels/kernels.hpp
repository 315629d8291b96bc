// CUDA: what the variants share. The sides of the copy that are on a GPU are there from set-up on.
#pragma once

#include "device_copy.hpp"

#include "firstlight/cuda.hpp"

namespace device_copy {

// The GPU after the present one.
inline int next_gpu() {
  int mine = 0;
  fl::cuda::must(cudaGetDevice(&mine), "the device");
  return (mine + 1) % fl::device::cuda_count();
}

// Without access between two GPUs the driver copies through the host, which is another path.
inline std::string refuse(const Params& p) {
  if (p.memory != Memory::peer) return "";
  int mine = 0, access = 0;
  if (fl::device::cuda_count() < 2) return "memory=peer needs two GPUs that this process may use";
  fl::cuda::must(cudaGetDevice(&mine), "the device");
  fl::cuda::must(cudaDeviceCanAccessPeer(&access, mine, next_gpu()), "the access between two GPUs");
  return access != 0 ? "" : "memory=peer needs two GPUs that can access each other's memory";
}

// Copies the first 1/part of the words.
template <fl::Index part>
struct Device {
  fl::cuda::Memory<Word> source, target;  // those on a GPU

  static void* host_memory(State& s) { return s.to_device ? s.source.data() : s.target.data(); }

  void open(State& s) {
    s.object = this;
    if (s.to_device) {
      target.allocate(s.words);
      s.fetch = [](State& state) { static_cast<Device*>(state.object)->target.to(state.target.data()); };
      s.poisoned = [](State& state) { static_cast<Device*>(state.object)->target.poison(); };
    }
    if (!s.to_device || !of_host(s.memory)) {
      s.changed = [](State& state, fl::Index i) { static_cast<Device*>(state.object)->source.from(state.source.data(), i); };
      on_its_gpu(s, [&] {
        source.allocate(s.source.size());
        source.from(s.source.data());
      });
    }
    if (s.memory != Memory::pinned) return;
    const fl::Index words = s.to_device ? s.source.size() : s.target.size();
    fl::cuda::must(cudaHostRegister(host_memory(s), static_cast<std::size_t>(words) * sizeof(Word), cudaHostRegisterDefault),
                   "pinning the host's memory");
  }

  void step(State& s, fl::Index) {
    const auto bytes = static_cast<std::size_t>(s.words / part) * sizeof(Word);
    const Word* from = (source.size() > 0 ? source.data() : s.source.data()) + s.offset;
    Word* to = target.size() > 0 ? target.data() : s.target.data();
    fl::cuda::must(cudaMemcpyAsync(to, from, bytes, kind()), "the start of a copy");
    fl::cuda::must(cudaStreamSynchronize(nullptr), "a copy");
    fl::device::note_memory(s.to_device ? to : from);
  }

  void close(State& s) {
    if (s.memory == Memory::pinned) cudaHostUnregister(host_memory(s));
  }

 private:
  cudaMemcpyKind kind() const {
    if (target.size() == 0) return cudaMemcpyDeviceToHost;
    return source.size() == 0 ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
  }

  // With memory=peer the source is on the next GPU, which this one may access.
  template <class Work>
  static void on_its_gpu(const State& s, const Work& work) {
    if (s.memory != Memory::peer) return work();
    int mine = 0;
    const int peer = next_gpu();
    fl::cuda::must(cudaGetDevice(&mine), "the device");
    const cudaError_t enabled = cudaDeviceEnablePeerAccess(peer, 0);
    if (enabled != cudaErrorPeerAccessAlreadyEnabled) fl::cuda::must(enabled, "the access between two GPUs");
    fl::cuda::must(cudaSetDevice(peer), "the other GPU");
    work();
    fl::cuda::must(cudaSetDevice(mine), "the device");
  }
};

}  // namespace device_copy
