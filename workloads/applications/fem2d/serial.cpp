// One process, one block, the classic form: what every other variant is compared with.
#include "kernels/alone.hpp"
#include "kernels/solver.hpp"

namespace {

void step(fem2d::State& s, fl::Index) {
  fem2d::Alone alone;
  s.outcome = fem2d::Solver<fem2d::Alone>(s, 0, alone).classic();
}

}  // namespace

FL_VARIANT(fem2d, step, .traits = {.work = fem2d::two_passes})
