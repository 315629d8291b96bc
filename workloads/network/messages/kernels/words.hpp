// Words that another process writes by atomics while this one looks at them.
#pragma once

#include <atomic>
#include <cstdint>

#include "firstlight/workload.hpp"

namespace messages {

using Word = std::uint64_t;
using Flag = std::uint32_t;

// Returns whether a word differs from `last`, by a load that does not reveal its value.
inline bool changed(const Word* word, Word last) {
  return std::atomic_ref<Word>(*const_cast<Word*>(word)).load(std::memory_order_relaxed) != last;
}
inline bool is(const unsigned char* flag, Flag wanted) {
  auto* word = reinterpret_cast<Flag*>(const_cast<unsigned char*>(flag));
  return std::atomic_ref<Flag>(*word).load(std::memory_order_acquire) == wanted;
}

}  // namespace messages
