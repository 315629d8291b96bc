// One block a process with its part of the matrix in memory, as the report describes its program.
#include "assembled.hpp"
#include "messages.hpp"

namespace {

fem2d::Assembled program;

void prepare(fem2d::State& s) { program.reserve(s.blocks[0]); }

void step(fem2d::State& s, fl::Index) {
  fem2d::Rank rank{{s, fem2d::Mail::whole}};
  s.outcome = program.solve(s, rank);
}

void finish(fem2d::State&) { program = {}; }

}  // namespace

FL_VARIANT(fem2d, step, .refuse = FL_REFUSE(fem2d, fem2d::needs_small_indices), .setup = FL_HOOK(fem2d, prepare),
           .finish = FL_HOOK(fem2d, finish))
