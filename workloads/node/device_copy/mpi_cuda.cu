// A GPU a rank, all at once: what the links of a node carry together.
#include "kernels.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(device_copy::State& s, fl::Index) { device_copy::copy(s, s.words); }

}  // namespace

FL_VARIANT(device_copy, step, .setup = FL_HOOK(device_copy, device_copy::upload), .finish = FL_HOOK(device_copy, device_copy::release),
           .device = &fl::device::cuda)
