// The kernels of the device ceilings as plain loops with C linkage, so that their arithmetic is tested where no GPU is.
#include <cstring>

#include "../support/heap.hpp"
#include "kernel_launch/kernels/device.hpp"
#include "peak/kernels/device.hpp"
#include "random_access/kernels/device.hpp"
#include "stream/kernels/device.hpp"
#include "tensor/kernels/device.hpp"

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

template <tensor::Format f>
std::uint64_t register_of(char matrix, int chain, std::uint32_t party, std::uint32_t shift, int lane, int r) {
  const auto found = matrix == 'b'   ? tensor::b_register<f>(chain, lane, r)
                     : matrix == 'a' ? tensor::a_register<f>(tensor::ElementsOfA{party}, lane, r)
                                     : tensor::a_register<f>(tensor::ElementsOfOther{party, shift}, lane, r);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &found, sizeof found);
  return bits;
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

// So many updates by the threads of a device, one after the other, from `first` of the stream on.
void run_updates(fl::Index words, fl::Index updates, std::uint64_t first, std::uint64_t* table) {
  const fl::Array<random_access::Word> jumps = random_access::jumps_of(updates);
  const random_access::Job job{table, static_cast<random_access::Word>(words - 1), jumps.data(), random_access::number(first), updates};
  for (fl::Index thread = 0; thread < random_access::threads_of(updates); ++thread)
    random_access::update_part(job, thread, random_access::AtomicOnDevice());
}

// The bits of register r of thread `lane`: of a tile of A, of E - A or of B.
std::uint64_t tensor_register(int format, char matrix, int chain, std::uint32_t party, std::uint32_t shift, int lane, int r) {
  using enum tensor::Format;
  constexpr decltype(&register_of<fp64>) of_format[] = {register_of<fp64>, register_of<tf32>, register_of<fp16>, register_of<bf16>,
                                                        register_of<fp8>};
  return of_format[format](matrix, chain, party, shift, lane, r);
}

// The element of E B at row i and column j.
int tensor_element(int format, std::uint32_t party, std::uint32_t shift, int i, int j) {
  int sum = 0;
  for (int k = 0; k < tensor::tile(static_cast<tensor::Format>(format)).depth; ++k)
    sum += tensor::e_value(party, i, k, shift) * tensor::b_value(k, j);
  return sum;
}

int tensor_position(int lane, int r) { return tensor::c_position(lane, r).i * tensor::columns + tensor::c_position(lane, r).j; }

void count_one(kernel_launch::Word* count, kernel_launch::Word mine) { kernel_launch::count_one(count, mine); }

// Kernels `from`, from + 1, ... of a graph of so many, in so many steps; `count` is poisoned before the last step.
void count_in_graph(kernel_launch::Word* count, fl::Index in_a_row, fl::Index from, fl::Index steps) {
  kernel_launch::Word counted = 0;
  *count = kernel_launch::begun;
  for (fl::Index step = 0; step < steps; ++step) {
    if (step == steps - 1) *count = kernel_launch::begun;
    for (fl::Index k = from; k < in_a_row; ++k)
      kernel_launch::count_in_graph(count, &counted, static_cast<kernel_launch::Word>(in_a_row), static_cast<kernel_launch::Word>(k));
  }
}
}
