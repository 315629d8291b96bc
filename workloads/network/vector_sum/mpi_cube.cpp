// R1's hypercube: log2(p) exchanges of whole vectors, each followed by an addition.
#include "exchange.hpp"

namespace {

void step(vector_sum::State& s, fl::Index) { vector_sum::cube(s, s.team.ranks); }

}  // namespace

FL_VARIANT(vector_sum, step, .setup = FL_HOOK(vector_sum, vector_sum::whole_buffer), .traits = vector_sum::power_of_two)
