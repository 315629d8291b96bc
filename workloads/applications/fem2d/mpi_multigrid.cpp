// One block a process, a V-cycle as preconditioner: two exchanges a level instead of one for all, for a fifth of the iterations.
#include "kernels/messages.hpp"
#include "kernels/multigrid.hpp"

namespace {

struct Solution {
  std::vector<fem2d::Grid> z;

  void open(fem2d::State& s) { z = fem2d::corrections(s.blocks[0]); }

  void step(fem2d::State& s, fl::Index) {
    fem2d::Rank rank{{s, fem2d::Mail::levels}};
    s.outcome = fem2d::Multigrid<fem2d::Rank>(s, 0, z, rank).solve();
  }
};

}  // namespace

FL_VARIANT(fem2d, Solution, .traits = {.another_preconditioner = true, .work = fem2d::v_cycle})
