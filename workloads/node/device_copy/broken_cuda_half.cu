// Copies the first half.
#include "kernels.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(device_copy::State& s, fl::Index) { device_copy::copy(s, s.words / 2); }

}  // namespace

FL_VARIANT(device_copy, step, .setup = FL_HOOK(device_copy, device_copy::upload), .finish = FL_HOOK(device_copy, device_copy::release),
           .device = &fl::device::cuda)
