// Leaves out the last dimension of the hypercube: half of the processes are missing.
#include "kernels/exchange.hpp"

namespace {

struct Sum : vector_sum::WholeBuffer {
  void step(vector_sum::State& s, fl::Index) { vector_sum::cube(s, s.team.ranks / 2); }
};

}  // namespace

FL_VARIANT(vector_sum, Sum, .traits = {.power_of_two = true, .needs_partner = true})
