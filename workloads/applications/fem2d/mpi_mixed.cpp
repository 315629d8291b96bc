// The coarser levels of the preconditioner in 32 bits; messages use 64.
#include "kernels/messages.hpp"
#include "kernels/solver.hpp"

namespace {

void step(fem2d::State& s, fl::Index) {
  fem2d::Rank rank{{s, fem2d::Mail::whole}};
  s.outcome = fem2d::Solver<fem2d::Rank, float>(s, 0, rank).chronopoulos_gear();
}

}  // namespace

FL_VARIANT(fem2d, step, .traits = {.coarse_in_32_bits = true})
