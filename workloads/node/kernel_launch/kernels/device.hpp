// The kernel: one body for the device and for the host.
#pragma once

#include "firstlight/cuda.hpp"
#include "kernel_launch.hpp"

namespace kernel_launch {

// Each kernel must find the number of the one before it, also across steps; the first of all finds poison. One that is left out, started
// twice or overtaken breaks the row for good.
FL_DEVICE void count_one(Word* count, Word mine) {
  *count = *count == mine - 1 || *count == begun || *count == fl::poison_bits ? mine : broken;
}

}  // namespace kernel_launch
