// Wrong on purpose: satisfied with two digits less.
#include "kernels/alone.hpp"
#include "kernels/solver.hpp"

namespace {

void step(fem2d::State& s, fl::Index) {
  fem2d::Alone alone;
  s.digits -= 2;
  s.outcome = fem2d::Solver<fem2d::Alone>(s, 0, alone).chronopoulos_gear();
  s.digits += 2;
}

}  // namespace

FL_VARIANT(fem2d, step)
