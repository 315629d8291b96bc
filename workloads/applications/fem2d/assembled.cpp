// One process with the matrix in memory: the time of the assembly, and of reading a matrix in every iteration.
#include "kernels/assembled.hpp"
#include "kernels/alone.hpp"

namespace {

struct Solution {
  fem2d::Assembled program;

  void open(fem2d::State& s) { program.reserve(s.blocks[0]); }

  void step(fem2d::State& s, fl::Index) {
    fem2d::Alone alone;
    s.outcome = program.solve(s, alone);
  }
};

}  // namespace

FL_VARIANT(fem2d, Solution, .refuse = fem2d::needs_small_indices, .traits = {.work = fem2d::stored_matrix})
