// Wrong on purpose: the nodes at y = 0 are free.
#include "solver.hpp"

namespace {

struct Alone {
  void sum(double*, fl::Index) {}
  void swap(fem2d::Block&) {}
};

void step(fem2d::State& s, fl::Index) {
  Alone alone;
  s.blocks[0].bottom = false;
  s.outcome = fem2d::Solver<Alone>(s, 0, alone).classic();
  s.blocks[0].bottom = true;
}

}  // namespace

FL_VARIANT(fem2d, step)
