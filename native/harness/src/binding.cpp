#include "binding.hpp"

#include <sched.h>

#include <mutex>

#include "firstlight/variant.hpp"

namespace fl {

std::vector<int> CpuSet::list() const {
  std::vector<int> cpus;
  for (int c = 0; c < most; ++c)
    if (bits[static_cast<std::size_t>(c) / 64] >> (c % 64) & 1) cpus.push_back(c);
  return cpus;
}

namespace {

struct Observed {
  std::mutex mutex;
  CpuSet cpus;
};

void add_own(void* data) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  auto& observed = *static_cast<Observed*>(data);
  const std::lock_guard lock(observed.mutex);
  for (int c = 0; c < CpuSet::most; ++c)
    if (CPU_ISSET(static_cast<unsigned>(c), &set)) observed.cpus.bits[static_cast<std::size_t>(c) / 64] |= std::uint64_t{1} << (c % 64);
}

}  // namespace

CpuSet observed_binding(int threads) {
  Observed observed;
  if (threads > 1 && variant.in_each_thread != nullptr)
    variant.in_each_thread(threads, &add_own, &observed);
  else
    add_own(&observed);
  return observed.cpus;
}

}  // namespace fl
