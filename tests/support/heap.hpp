// Allocates the arrays of test drivers that are linked without the harness.
#pragma once

#include <cstdlib>

#include "firstlight/workload.hpp"

namespace fl {

void* allocate(std::size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); }
void release(void* memory, std::size_t) { std::free(memory); }

}  // namespace fl
