// One block a process, a V-cycle as preconditioner: two exchanges a level instead of one for all, for a fifth of the iterations.
#include "messages.hpp"
#include "multigrid.hpp"

namespace {

std::vector<fem2d::Grid> z;

void prepare(fem2d::State& s) { z = fem2d::corrections(s.blocks[0]); }

void step(fem2d::State& s, fl::Index) {
  fem2d::Rank rank{{s, fem2d::Mail::levels}};
  s.outcome = fem2d::Multigrid<fem2d::Rank>(s, 0, z, rank).solve();
}

void finish(fem2d::State&) { z.clear(); }

}  // namespace

FL_VARIANT(fem2d, step, .setup = FL_HOOK(fem2d, prepare), .finish = FL_HOOK(fem2d, finish), .traits = fem2d::another_preconditioner)
