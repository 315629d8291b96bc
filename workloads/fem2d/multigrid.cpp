// One process, a V-cycle as preconditioner.
#include "multigrid.hpp"

namespace {

std::vector<fem2d::Grid> z;

struct Alone {
  void sum(double*, fl::Index) {}
  void swap(fem2d::Block&, std::size_t) {}
};

void prepare(fem2d::State& s) { z = fem2d::corrections(s.blocks[0]); }

void step(fem2d::State& s, fl::Index) {
  Alone alone;
  s.outcome = fem2d::Multigrid<Alone>(s, 0, z, alone).solve();
}

void finish(fem2d::State&) { z.clear(); }

}  // namespace

FL_VARIANT(fem2d, step, .setup = FL_HOOK(fem2d, prepare), .finish = FL_HOOK(fem2d, finish), .traits = fem2d::another_preconditioner)
