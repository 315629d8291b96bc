// One process, a V-cycle as preconditioner.
#include "multigrid.hpp"
#include "alone.hpp"

namespace {

std::vector<fem2d::Grid> z;

void prepare(fem2d::State& s) { z = fem2d::corrections(s.blocks[0]); }

void step(fem2d::State& s, fl::Index) {
  fem2d::Alone alone;
  s.outcome = fem2d::Multigrid<fem2d::Alone>(s, 0, z, alone).solve();
}

void finish(fem2d::State&) { z.clear(); }

}  // namespace

FL_VARIANT(fem2d, step, .setup = FL_HOOK(fem2d, prepare), .finish = FL_HOOK(fem2d, finish), .traits = fem2d::another_preconditioner)
