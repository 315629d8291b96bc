// For comparison: a call of the same function that the compiler cannot see through.
#include "kernels/device.hpp"

namespace {

void step(kernel_launch::State& s, fl::Index iteration) {
  void (*volatile const count)(kernel_launch::Word*, kernel_launch::Word) = kernel_launch::count_one;
  for (fl::Index k = 0; k < s.in_a_row; ++k) count(s.count.data(), kernel_launch::number(s.in_a_row, iteration, k));
}

}  // namespace

FL_VARIANT(kernel_launch, step)
