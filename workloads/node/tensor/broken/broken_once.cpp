// Repeats the first iteration.
#include "kernels/loops.hpp"

namespace {

void step(tensor::State& s, fl::Index) { tensor::run(s, tensor::shift_value(0)); }

}  // namespace

FL_VARIANT(tensor, step)
