// Waiting for a number that another process or thread writes.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "firstlight/role.hpp"

namespace fl::inline FL_ROLE {

// Plain loads first: a pause between them would cost a part of the latency that is measured. `now_and_then` is called between
// batches of them; a party that waits for long may share its processor with the one that it waits for.
template <class Hook>
inline void await(std::uint64_t* flag, std::uint64_t number, Hook now_and_then) {
  constexpr int batch = 512, patience = 64;
  const std::atomic_ref<std::uint64_t> arrived(*flag);
  for (int batches = 0;; ++batches) {
    for (int spin = 0; spin < batch; ++spin)
      if (arrived.load(std::memory_order_acquire) == number) return;
    now_and_then();
    if (batches >= patience) sched_yield();
  }
}

}  // namespace fl::inline FL_ROLE
