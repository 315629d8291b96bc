// Wrong on purpose: satisfied with two digits less.
#include "solver.hpp"

namespace {

struct Alone {
  void sum(double*, fl::Index) {}
  void swap(fem2d::Block&) {}
};

void step(fem2d::State& s, fl::Index) {
  Alone alone;
  s.digits -= 2;
  s.outcome = fem2d::Solver<Alone>(s, 0, alone).chronopoulos_gear();
  s.digits += 2;
}

}  // namespace

FL_VARIANT(fem2d, step)
