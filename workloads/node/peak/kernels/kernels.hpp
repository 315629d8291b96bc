// CUDA: the chains lie on the device from set-up on. Shared by the variants with and without MPI.
#pragma once

#include "device.hpp"

namespace peak {

template <class T>
struct OnDevice {
  fl::cuda::Memory<T> start, sum;
};

template <class T>
__global__ void chains_kernel(Job<T> job, fl::Index laps_to_run) {
  const fl::Index thread = fl::cuda::first();
  if (thread == 0) fl::device::note();
  if (thread < job.all / together) run_thread(job, thread, laps_to_run);
}

template <class T>
void launch(const Lanes<T>& lanes, const OnDevice<T>& there, double shift, fl::Index laps_to_run) {
  constexpr unsigned threads = 128;
  const Job<T> job{lanes.sum.size(), there.start.data(), there.sum.data(), lanes.a, lanes.b, static_cast<T>(shift)};
  chains_kernel<<<static_cast<unsigned>((job.all / together + threads - 1) / threads), threads>>>(job, laps_to_run);
}

// Runs so many laps of all chains.
template <fl::Index laps_to_run>
struct Device {
  OnDevice<float> singles;
  OnDevice<double> doubles;

  template <class Use>
  void in_precision(State& s, Use use) {
    if (s.precision == 32)
      use(s.singles, singles);
    else
      use(s.doubles, doubles);
  }

  void open(State& s) {
    s.object = this;
    s.fetch = [](State& state) {
      static_cast<Device*>(state.object)->in_precision(state, [](auto& lanes, auto& there) { there.sum.to(lanes.sum.data()); });
    };
    s.poisoned = [](State& state) {
      static_cast<Device*>(state.object)->in_precision(state, [](auto&, auto& there) { there.sum.poison(); });
    };
    in_precision(s, [](auto& lanes, auto& there) {
      there.start.allocate(lanes.start.size());
      there.start.from(lanes.start.data());
      there.sum.allocate(lanes.sum.size());
    });
  }

  void step(State& s, fl::Index) {
    in_precision(s, [&](auto& lanes, auto& there) { launch(lanes, there, s.shift, laps_to_run); });
    fl::cuda::finished();
  }
};

}  // namespace peak
