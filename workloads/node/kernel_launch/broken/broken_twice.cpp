// Starts the last kernel of a row twice.
#include "kernels/device.hpp"

namespace {

void step(kernel_launch::State& s, fl::Index iteration) {
  for (fl::Index k = 0; k < s.in_a_row; ++k) kernel_launch::count_one(s.count.data(), kernel_launch::number(s.in_a_row, iteration, k));
  kernel_launch::count_one(s.count.data(), kernel_launch::number(s.in_a_row, iteration, s.in_a_row - 1));
}

}  // namespace

FL_VARIANT(kernel_launch, step)
