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

// Kernel k of a graph, which has the same arguments in every step: kernel 0 counts the steps in memory that nothing poisons.
FL_DEVICE void count_in_graph(Word* count, Word* steps, Word in_a_row, Word k) {
  if (k == 0) ++*steps;
  count_one(count, (*steps - 1) * in_a_row + k + 1);
}

}  // namespace kernel_launch
