// R1's hypercube: log2(p) exchanges of whole vectors, each followed by an addition.
#include "kernels/exchange.hpp"

namespace {

struct Sum : vector_sum::WholeBuffer {
  void step(vector_sum::State& s, fl::Index) { vector_sum::cube(s, s.team.ranks); }
};

}  // namespace

FL_VARIANT(vector_sum, Sum, .traits = {.power_of_two = true})
