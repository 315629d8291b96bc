// The coarser levels of the preconditioner in 32 bits, everything else in 64.
#include "solver.hpp"

namespace {

struct Alone {
  void sum(double*, fl::Index) {}
  void swap(fem2d::Block&) {}
};

void step(fem2d::State& s, fl::Index) {
  Alone alone;
  s.outcome = fem2d::Solver<Alone, float>(s, 0, alone).chronopoulos_gear();
}

}  // namespace

FL_VARIANT(fem2d, step, .traits = fem2d::coarse_in_32_bits)
