// Wrong on purpose: the nodes at y = 0 are free.
#include "kernels/alone.hpp"
#include "kernels/solver.hpp"

namespace {

void step(fem2d::State& s, fl::Index) {
  fem2d::Alone alone;
  s.blocks[0].bottom = false;
  s.outcome = fem2d::Solver<fem2d::Alone>(s, 0, alone).classic();
  s.blocks[0].bottom = true;
}

}  // namespace

FL_VARIANT(fem2d, step)
