// CUDA: the chains lie on the device from set-up on. Shared by the variants with and without MPI.
#pragma once

#include "device.hpp"

namespace peak {

template <class T>
struct OnDevice {
  fl::cuda::Memory<T> start, sum;
};

template <class T>
inline OnDevice<T> on_device;

template <class T>
__global__ void chains_kernel(Job<T> job, fl::Index laps_to_run) {
  const fl::Index thread = fl::cuda::first();
  if (thread == 0) fl::device::note();
  if (thread < job.all / together) run_thread(job, thread, laps_to_run);
}

template <class T>
void launch(const Lanes<T>& lanes, double shift, fl::Index laps_to_run) {
  constexpr unsigned threads = 128;
  const Job<T> job{lanes.sum.size(), on_device<T>.start.data(), on_device<T>.sum.data(), lanes.a, lanes.b, static_cast<T>(shift)};
  chains_kernel<<<static_cast<unsigned>((job.all / together + threads - 1) / threads), threads>>>(job, laps_to_run);
}

inline void step_on_device(State& s, fl::Index laps_to_run = laps) {
  if (s.precision == 32)
    launch(s.single, s.shift, laps_to_run);
  else
    launch(s.twofold, s.shift, laps_to_run);
  fl::cuda::finished();
}

template <class Use>
void in_precision(State& s, Use use) {
  if (s.precision == 32)
    use(s.single, on_device<float>);
  else
    use(s.twofold, on_device<double>);
}

inline void fetch(State& s) {
  in_precision(s, [](auto& lanes, auto& there) { there.sum.to(lanes.sum.data()); });
}
inline void poisoned(State& s) {
  in_precision(s, [](auto&, auto& there) { there.sum.poison(); });
}

inline void upload(State& s) {
  s.fetch = fetch;
  s.poisoned = poisoned;
  in_precision(s, [](auto& lanes, auto& there) {
    there.start.allocate(lanes.start.size());
    there.start.from(lanes.start.data());
    there.sum.allocate(lanes.sum.size());
  });
}

inline void release(State& s) {
  in_precision(s, [](auto&, auto& there) {
    there.start.release();
    there.sum.release();
  });
}

}  // namespace peak
