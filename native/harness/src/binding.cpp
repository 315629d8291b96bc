#include "binding.hpp"

#include <sched.h>

#include <cerrno>
#include <mutex>
#include <set>

#include "firstlight/variant.hpp"
#include "participants.hpp"

namespace fl {
namespace {

struct Observed {
  std::mutex mutex;
  std::set<int> cpus;
};

// The kernel refuses a set that is smaller than its own, which may be larger than cpu_set_t: 1024 CPUs.
void add_own(void* data) {
  auto& observed = *static_cast<Observed*>(data);
  constexpr int most = 1 << 20;
  for (int room = CPU_SETSIZE; room <= most; room *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(room));
    if (set == nullptr) return;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
    const int failed = sched_getaffinity(0, bytes, set) == 0 ? 0 : errno;
    if (failed == 0) {
      const std::lock_guard lock(observed.mutex);
      for (int c = 0; c < room; ++c)
        if (CPU_ISSET_S(static_cast<std::size_t>(c), bytes, set)) observed.cpus.insert(c);
    }
    CPU_FREE(set);
    if (failed != EINVAL) return;
  }
}

}  // namespace

std::vector<int> observed_binding(int threads) {
  Observed observed;
  if (threads > 1 && variant.in_each_thread != nullptr)
    in_each_thread(threads, &add_own, &observed);
  else
    add_own(&observed);
  return {observed.cpus.begin(), observed.cpus.end()};
}

}  // namespace fl
