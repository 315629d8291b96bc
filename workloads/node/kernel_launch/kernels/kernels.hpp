// CUDA: what the variants share.
#pragma once

#include "device.hpp"

namespace kernel_launch {

__global__ void count_kernel(Word* count, Word mine) {
  fl::device::note();
  count_one(count, mine);
}

__global__ void graph_kernel(Word* count, Word* steps, Word in_a_row, Word k) {
  fl::device::note();
  count_in_graph(count, steps, in_a_row, k);
}

struct Counter {
  fl::cuda::Memory<Word> there;

  void open(State& s) {
    s.object = this;
    s.fetch = [](State& state) { static_cast<Counter*>(state.object)->there.to(state.count.data()); };
    s.poisoned = [](State& state) { static_cast<Counter*>(state.object)->there.poison(); };
    there.allocate(1);
  }
};

// Waits for the whole device, as most programs do.
struct WaitForDevice {
  void operator()() const { fl::cuda::finished(); }
};

// Waits for an event behind the last kernel; the host spins or sleeps, as the flags say.
template <unsigned flags>
class WaitForEvent {
 public:
  WaitForEvent() { fl::cuda::must(cudaEventCreateWithFlags(&event_, flags | cudaEventDisableTiming), "an event"); }
  WaitForEvent(const WaitForEvent&) = delete;
  WaitForEvent& operator=(const WaitForEvent&) = delete;
  ~WaitForEvent() { cudaEventDestroy(event_); }
  void operator()() const {
    fl::cuda::must(cudaGetLastError(), "the start of a kernel");
    fl::cuda::must(cudaEventRecord(event_), "an event");
    fl::cuda::must(cudaEventSynchronize(event_), "a kernel");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// Starts kernels `from`, from + 1, ... of each step, and waits.
template <fl::Index from, class Wait = WaitForDevice>
struct Device : Counter {
  Wait wait;

  void step(State& s, fl::Index iteration) {
    for (fl::Index k = from; k < s.in_a_row; ++k) count_kernel<<<1, 1>>>(there.data(), number(s.in_a_row, iteration, k));
    wait();
  }
};

// The same kernels as one graph, which is built once.
template <fl::Index from>
struct Graph : Counter {
  fl::cuda::Memory<Word> steps;
  cudaStream_t stream = nullptr;
  cudaGraphExec_t graph = nullptr;

  void open(State& s) {
    Counter::open(s);
    const Word none = 0;
    steps.allocate(1);
    steps.from(&none);
    fl::cuda::must(cudaStreamCreate(&stream), "a stream");
    fl::cuda::must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "the recording of a graph");
    for (fl::Index k = from; k < s.in_a_row; ++k)
      graph_kernel<<<1, 1, 0, stream>>>(there.data(), steps.data(), static_cast<Word>(s.in_a_row), static_cast<Word>(k));
    cudaGraph_t recorded = nullptr;
    fl::cuda::must(cudaStreamEndCapture(stream, &recorded), "the recording of a graph");
    fl::cuda::must(cudaGraphInstantiateWithFlags(&graph, recorded, 0), "a graph");
    cudaGraphDestroy(recorded);
  }

  void step(State&, fl::Index) {
    fl::cuda::must(cudaGraphLaunch(graph, stream), "the start of a graph");
    fl::cuda::must(cudaStreamSynchronize(stream), "a graph");
  }

  void close(State&) {
    cudaGraphExecDestroy(graph);
    cudaStreamDestroy(stream);
  }
};

}  // namespace kernel_launch
