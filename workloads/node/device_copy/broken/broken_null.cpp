// Does nothing: the target stays poisoned.
#include "device_copy.hpp"

namespace {

void step(device_copy::State&, fl::Index) {}

}  // namespace

FL_VARIANT(device_copy, step)
