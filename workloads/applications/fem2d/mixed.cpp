// The coarser levels of the preconditioner in 32 bits, everything else in 64.
#include "kernels/alone.hpp"
#include "kernels/solver.hpp"

namespace {

void step(fem2d::State& s, fl::Index) {
  fem2d::Alone alone;
  s.outcome = fem2d::Solver<fem2d::Alone, float>(s, 0, alone).chronopoulos_gear();
}

}  // namespace

FL_VARIANT(fem2d, step, .traits = {.coarse_in_32_bits = true})
