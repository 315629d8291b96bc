// Does half the laps.
#include "kernels.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(peak::State& s, fl::Index) { peak::step_on_device(s, peak::laps / 2); }

}  // namespace

FL_VARIANT(peak, step, .setup = FL_HOOK(peak, peak::upload), .finish = FL_HOOK(peak, peak::release), .device = &fl::device::cuda)
