// One process, a V-cycle as preconditioner.
#include "kernels/multigrid.hpp"
#include "kernels/alone.hpp"

namespace {

struct Solution {
  std::vector<fem2d::Grid> z;

  void open(fem2d::State& s) { z = fem2d::corrections(s.blocks[0]); }

  void step(fem2d::State& s, fl::Index) {
    fem2d::Alone alone;
    s.outcome = fem2d::Multigrid<fem2d::Alone>(s, 0, z, alone).solve();
  }
};

}  // namespace

FL_VARIANT(fem2d, Solution, .traits = {.another_preconditioner = true, .work = fem2d::v_cycle})
