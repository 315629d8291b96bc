// One process with the matrix in memory: what assembly costs, and what it costs to read a matrix in every iteration.
#include "assembled.hpp"
#include "alone.hpp"

namespace {

fem2d::Assembled program;

void prepare(fem2d::State& s) { program.reserve(s.blocks[0]); }

void step(fem2d::State& s, fl::Index) {
  fem2d::Alone alone;
  s.outcome = program.solve(s, alone);
}

void finish(fem2d::State&) { program = {}; }

}  // namespace

FL_VARIANT(fem2d, step, .refuse = FL_REFUSE(fem2d, fem2d::needs_small_indices), .setup = FL_HOOK(fem2d, prepare),
           .finish = FL_HOOK(fem2d, finish))
