// OpenACC: the loops of `serial` with a directive each.
#include "acc.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(stream::State& s, fl::Index) { stream::acc::step(s); }

}  // namespace

FL_VARIANT(stream, step, .setup = FL_HOOK(stream, stream::acc::upload), .finish = FL_HOOK(stream, stream::acc::release),
           .device = &fl::device::openacc)
