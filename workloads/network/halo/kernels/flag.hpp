// Waiting for a number that another party counts up.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "firstlight/lines.hpp"

namespace halo {

struct alignas(fl::line_pair) Flag {
  std::atomic<std::uint64_t> number{0};
};

inline void announce(Flag& flag, std::uint64_t number) { flag.number.store(number, std::memory_order_release); }

// Until `number` or a later one is there. Whom it waits for may need this processor, so it gives way after a while.
inline void await(const Flag& flag, std::uint64_t number) {
  constexpr int patience = 1 << 15;
  for (int spins = 0; flag.number.load(std::memory_order_acquire) < number; ++spins)
    if (spins >= patience) sched_yield();
}

}  // namespace halo
