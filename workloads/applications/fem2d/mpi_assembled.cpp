// One block a process with its part of the matrix in memory, as the report describes its program.
#include "kernels/assembled.hpp"
#include "kernels/messages.hpp"

namespace {

struct Solution {
  fem2d::Assembled program;

  void open(fem2d::State& s) { program.reserve(s.blocks[0]); }

  void step(fem2d::State& s, fl::Index) {
    fem2d::Rank rank{{s, fem2d::Mail::whole}};
    s.outcome = program.solve(s, rank);
  }
};

}  // namespace

FL_VARIANT(fem2d, Solution, .refuse = fem2d::needs_small_indices, .traits = {.work = fem2d::stored_matrix})
