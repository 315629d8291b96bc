// Poison, checks, text: what workload headers call.
#include <algorithm>
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
  return Check{std::isfinite(error) && std::fabs(error) <= tolerance, error, tolerance, std::move(what)};
}

void barrier() { comm::barrier(); }

double total(double mine) {
  std::vector<double> all(static_cast<std::size_t>(comm::size()));
  comm::gather(&mine, sizeof mine, all.data());
  double sum = std::accumulate(all.begin(), all.end(), 0.0);
  comm::broadcast(&sum, sizeof sum);
  return sum;
}

// In parts, for an MPI library counts bytes in an int.
void gather(const double* mine, Index count, double* all) {
  constexpr Index most = Index{1} << 15;
  const auto ranks = static_cast<std::size_t>(comm::size());
  std::vector<double> part(ranks * static_cast<std::size_t>(std::min(count, most)));
  for (Index first = 0; first < count; first += most) {
    const auto size = static_cast<std::size_t>(std::min(count - first, most));
    comm::gather(mine + first, size * sizeof(double), part.data());
    comm::broadcast(part.data(), ranks * size * sizeof(double));
    for (std::size_t r = 0; r < ranks; ++r) std::copy_n(part.data() + r * size, size, all + static_cast<Index>(r) * count + first);
  }
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
