// One block a process with its part of the matrix in memory, as the report describes its program.
#include "assembled.hpp"
#include "messages.hpp"

namespace {

fem2d::Matrix matrix;
fem2d::Grid product;

struct Rank {
  fem2d::Mail mail;

  void sum(double* values, fl::Index count) { fem2d::sum_over_ranks(values, count); }
  void swap(fem2d::Block&) { mail.swap(); }
};

void prepare(fem2d::State& s) {
  matrix.reserve(s.blocks[0]);
  product = fem2d::Grid(s.blocks[0].s.nx, s.blocks[0].s.ny);
}

void step(fem2d::State& s, fl::Index) {
  Rank rank{{s, fem2d::Mail::whole}};
  s.outcome = fem2d::assemble_and_solve(s, matrix, product, rank);
}

void finish(fem2d::State&) {
  matrix = {};
  product = {};
}

}  // namespace

FL_VARIANT(fem2d, step, .refuse = FL_REFUSE(fem2d, fem2d::needs_small_indices), .setup = FL_HOOK(fem2d, prepare),
           .finish = FL_HOOK(fem2d, finish))
