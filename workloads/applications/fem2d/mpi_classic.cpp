// One block a process, the classic form, as the report describes it: one exchange, the coarse nodes and two scalars in three sums an iteration.
#include "kernels/messages.hpp"
#include "kernels/solver.hpp"

namespace {

void step(fem2d::State& s, fl::Index) {
  fem2d::Rank rank{{s, fem2d::Mail::whole}};
  s.outcome = fem2d::Solver<fem2d::Rank>(s, 0, rank).classic();
}

}  // namespace

FL_VARIANT(fem2d, step, .traits = {.work = fem2d::two_passes})
