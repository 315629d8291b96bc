// The kernel: one body for the device and for the host.
#pragma once

#include "firstlight/cuda.hpp"
#include "kernel_launch.hpp"

namespace kernel_launch::inline FL_ROLE {

// The first kernel of a step begins a row; each other one must find the number of the one before it.
FL_DEVICE void count_one(Word* count, Word mine, bool first) {
  if (first || *count == mine - 1) *count = mine;
}

}  // namespace kernel_launch::inline FL_ROLE
