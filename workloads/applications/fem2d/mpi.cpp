// One block a process, the form of Chronopoulos and Gear: one exchange and two sums an iteration, one of them of the coarse nodes.
#include "kernels/messages.hpp"
#include "kernels/solver.hpp"

namespace {

void step(fem2d::State& s, fl::Index) {
  fem2d::Rank rank{{s, fem2d::Mail::whole}};
  s.outcome = fem2d::Solver<fem2d::Rank>(s, 0, rank).chronopoulos_gear();
}

}  // namespace

FL_VARIANT(fem2d, step)
