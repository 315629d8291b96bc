// One GPU, a thread an element. What is timed is the kernels, from the start of the first to the end of the last.
#include "kernels.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) { stream::step_on_device(s); }

}  // namespace

FL_VARIANT(stream, step, .setup = FL_HOOK(stream, stream::upload), .finish = FL_HOOK(stream, stream::release), .device = &fl::device::cuda)
