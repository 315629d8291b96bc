// A GPU a rank, all at once: what the GPUs of a node, or of several, deliver together.
#include "kernels.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) { stream::step_on_device(s); }

}  // namespace

FL_VARIANT(stream, step, .setup = FL_HOOK(stream, stream::upload), .finish = FL_HOOK(stream, stream::release), .device = &fl::device::cuda)
