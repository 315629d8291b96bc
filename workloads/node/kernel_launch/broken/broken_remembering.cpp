// Starts what it has not started yet: of a row only the last, for the others were there in the step before; of a single one every second.
#include "kernels/device.hpp"

namespace {

void step(kernel_launch::State& s, fl::Index iteration) {
  if (s.in_a_row == 1 && iteration % 2 == 1) return;
  const fl::Index last = s.in_a_row - 1;
  kernel_launch::count_one(s.count.data(), kernel_launch::number(s.in_a_row, iteration, last));
}

}  // namespace

FL_VARIANT(kernel_launch, step)
