// OpenMP on a device: the loops of `serial` with a directive each.
#include "target.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) { stream::target::step(s); }

}  // namespace

FL_VARIANT(stream, step, .setup = FL_HOOK(stream, stream::target::upload), .finish = FL_HOOK(stream, stream::target::release),
           .device = &fl::device::openmp)
