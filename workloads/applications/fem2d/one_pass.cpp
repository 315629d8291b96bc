// One process, one block, the form of Chronopoulos and Gear: one pass less through memory.
#include "kernels/alone.hpp"
#include "kernels/solver.hpp"

namespace {

void step(fem2d::State& s, fl::Index) {
  fem2d::Alone alone;
  s.outcome = fem2d::Solver<fem2d::Alone>(s, 0, alone).chronopoulos_gear();
}

}  // namespace

FL_VARIANT(fem2d, step)
