// Leaves out the first kernel of a step.
#include "kernels.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(kernel_launch::State& s, fl::Index iteration) { kernel_launch::start(s, iteration, 1); }

}  // namespace

FL_VARIANT(kernel_launch, step, .setup = FL_HOOK(kernel_launch, kernel_launch::prepare),
           .finish = FL_HOOK(kernel_launch, kernel_launch::release), .device = &fl::device::cuda)
