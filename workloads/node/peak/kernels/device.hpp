// The chains of one thread of a device that has many: one body for the device and for the host.
#pragma once

#include "firstlight/cuda.hpp"
#include "peak.hpp"

namespace peak {

inline constexpr int together = 8;  // chains of a thread: enough to hide the latency of a multiply-add behind the others

template <class T>
struct Job {
  fl::Index all = 0;  // chains, a multiple of `together`
  const T* start = nullptr;
  T* sum = nullptr;
  T a = 0, b = 0, shift = 0;
};

// Chains thread, thread + threads, ...: neighbouring threads read neighbouring numbers.
template <class T>
FL_DEVICE void run_thread(const Job<T>& job, fl::Index thread, fl::Index laps_to_run) {
  const fl::Index threads = job.all / together;
  T sum[together] = {};
  for (fl::Index lap = 0; lap < laps_to_run; ++lap) {
    T x[together];
    const T from = job.shift + static_cast<T>(ahead(lap));
    for (int k = 0; k < together; ++k) x[k] = job.start[thread + k * threads] + from;
    for (fl::Index m = 0; m < length; ++m)
      for (int k = 0; k < together; ++k) x[k] = x[k] * job.a + job.b;
    for (int k = 0; k < together; ++k) sum[k] += x[k];
  }
  for (int k = 0; k < together; ++k) job.sum[thread + k * threads] = sum[k];
}

}  // namespace peak
