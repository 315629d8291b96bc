// The five operations of one thread of a device that has many: one body for the device and for the host.
#pragma once

#include "firstlight/cuda.hpp"
#include "stream.hpp"

namespace stream {

// What a kernel is given. The last element of x follows the iteration, so it is handed over with every step.
struct Job {
  fl::Index n = 0;
  const double *x = nullptr, *y = nullptr;
  double* out = nullptr;
  double last = 0;
};

// Elements first, first + stride, ... of out.
template <Op op>
FL_DEVICE void store_part(const Job& job, fl::Index first, fl::Index stride) {
  for (fl::Index i = first; i < job.n; i += stride) {
    const double x = i == job.n - 1 ? job.last : job.x[i];
    if constexpr (op == Op::copy) job.out[i] = x;
    if constexpr (op == Op::scale) job.out[i] = q * x;
    if constexpr (op == Op::add) job.out[i] = x + job.y[i];
    if constexpr (op == Op::triad) job.out[i] = x + q * job.y[i];
  }
}

// The sum of those elements of x.
FL_DEVICE double load_part(const Job& job, fl::Index first, fl::Index stride) {
  double sum = 0;
  for (fl::Index i = first; i < job.n; i += stride) sum += i == job.n - 1 ? job.last : job.x[i];
  return sum;
}

}  // namespace stream
