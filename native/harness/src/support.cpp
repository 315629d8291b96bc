// Poison, checks, text: what workload headers call.
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "comm.hpp"
#include "firstlight/workload.hpp"

namespace fl {

void poison(double* first, Index count) {
  const std::uint64_t bits = poison_bits;
  for (Index i = 0; i < count; ++i) std::memcpy(first + i, &bits, sizeof bits);
}

void poison(float* first, Index count) {
  const std::uint32_t bits = 0x7FC0DEADu;
  for (Index i = 0; i < count; ++i) std::memcpy(first + i, &bits, sizeof bits);
}

Check Check::of(double error, double tolerance, std::string what) {
  return Check{std::isfinite(error) && error <= tolerance, error, tolerance, std::move(what)};
}

void barrier() { comm::barrier(); }

double total(double mine) {
  std::vector<double> all(static_cast<std::size_t>(comm::size()));
  comm::gather(&mine, sizeof mine, all.data());
  double sum = std::accumulate(all.begin(), all.end(), 0.0);
  comm::broadcast(&sum, sizeof sum);
  return sum;
}

std::string text(const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

}  // namespace fl
