// The kernels of the device ceilings as plain loops with C linkage, so that their arithmetic is tested where no GPU is.
#include "../support/heap.hpp"
#include "kernel_launch/kernels/device.hpp"
#include "peak/kernels/device.hpp"
#include "stream/kernels/device.hpp"

namespace fl {
std::string text(const char* format, ...) { return format; }
const Variant variant{"", "", "", nullptr, nullptr};
}  // namespace fl

namespace {

template <class T>
void run_chains(fl::Index all, fl::Index laps, const double* start, double shift, double* sum) {
  fl::Array<T> from(all), to(all);
  for (fl::Index i = 0; i < all; ++i) from[i] = static_cast<T>(start[i]);
  const peak::Job<T> job{all, from.data(), to.data(), static_cast<T>(peak::a), static_cast<T>(peak::b), static_cast<T>(shift)};
  for (fl::Index thread = 0; thread < all / peak::together; ++thread) peak::run_thread(job, thread, laps);
  for (fl::Index i = 0; i < all; ++i) sum[i] = static_cast<double>(to[i]);
}

}  // namespace

extern "C" {

// The operation `op` by `threads` threads, one after the other; load leaves its sum in out[0].
void run_stream(int op, fl::Index n, fl::Index threads, const double* x, const double* y, double last, double* out) {
  const stream::Job job{n, x, y, out, last};
  if (op == 4) out[0] = 0;
  for (fl::Index t = 0; t < threads; ++t) {
    if (op == 0) stream::store_part<stream::Op::copy>(job, t, threads);
    if (op == 1) stream::store_part<stream::Op::scale>(job, t, threads);
    if (op == 2) stream::store_part<stream::Op::add>(job, t, threads);
    if (op == 3) stream::store_part<stream::Op::triad>(job, t, threads);
    if (op == 4) out[0] += stream::load_part(job, t, threads);
  }
}

void run_peak(int bits, fl::Index all, fl::Index laps, const double* start, double shift, double* sum) {
  if (bits == 32)
    run_chains<float>(all, laps, start, shift, sum);
  else
    run_chains<double>(all, laps, start, shift, sum);
}

void count_one(kernel_launch::Word* count, kernel_launch::Word mine) { kernel_launch::count_one(count, mine); }
}
