// For comparison: one core, with numbers of 32 bit, or of 64 with fp64.
#include "kernels/loops.hpp"

namespace {

void step(tensor::State& s, fl::Index) { tensor::run(s, s.shift); }

}  // namespace

FL_VARIANT(tensor, step)
