// Arrays from the heap, where the address sanitizer sees their bounds (sanitizer builds link this instead of memory_pages.cpp).
#include <cstdlib>

#include "fences.hpp"
#include "firstlight/workload.hpp"

namespace fl {

void* allocate(std::size_t bytes) {
  constexpr std::size_t line = 64;
  void* memory = std::aligned_alloc(line, (bytes + line - 1) / line * line);
  if (memory == nullptr) abort_all(text("out of memory: %zu more bytes cannot be allocated; choose a smaller size", bytes));
  return memory;
}

void release(void* memory, std::size_t) { std::free(memory); }

void fence() {}  // the sanitizer's own are longer
Index trespassed() { return 0; }

}  // namespace fl
