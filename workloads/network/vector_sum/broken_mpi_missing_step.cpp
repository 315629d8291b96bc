// Leaves out the last dimension of the hypercube: half of the processes are missing.
#include "exchange.hpp"

namespace {

void step(vector_sum::State& s, fl::Index) { vector_sum::cube(s, s.team.ranks / 2); }

}  // namespace

FL_VARIANT(vector_sum, step, .setup = FL_HOOK(vector_sum, vector_sum::whole_buffer),
           .traits = vector_sum::power_of_two | vector_sum::partner)
