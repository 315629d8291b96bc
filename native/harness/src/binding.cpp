#include "binding.hpp"

#include <sched.h>

namespace fl {

std::vector<int> CpuSet::list() const {
  std::vector<int> cpus;
  for (int c = 0; c < most; ++c)
    if (bits[static_cast<std::size_t>(c) / 64] >> (c % 64) & 1) cpus.push_back(c);
  return cpus;
}

CpuSet observed_binding() {
  CpuSet result;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return result;
  for (int c = 0; c < CpuSet::most; ++c)
    if (CPU_ISSET(static_cast<unsigned>(c), &set)) result.bits[static_cast<std::size_t>(c) / 64] |= std::uint64_t{1} << (c % 64);
  return result;
}

}  // namespace fl
