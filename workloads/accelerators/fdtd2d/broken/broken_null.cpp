// Does nothing: the fields stay where they started.
#include "fdtd2d.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(fdtd2d::State&, fl::Index) {}

}  // namespace

FL_VARIANT(fdtd2d, step)
