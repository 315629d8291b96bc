// Does half the laps.
#include "kernels/loops.hpp"

namespace {

void step(tensor::State& s, fl::Index) { tensor::run(s, s.shift, tensor::laps / 2); }

}  // namespace

FL_VARIANT(tensor, step)
