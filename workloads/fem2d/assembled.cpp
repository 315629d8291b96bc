// One process with the matrix in memory: what assembly costs, and what it costs to read a matrix in every iteration.
#include "assembled.hpp"

namespace {

fem2d::Matrix matrix;
fem2d::Grid product;

struct Alone {
  void sum(double*, fl::Index) {}
  void swap(fem2d::Block&) {}
};

void prepare(fem2d::State& s) {
  matrix.reserve(s.blocks[0]);
  product = fem2d::Grid(s.blocks[0].s.nx, s.blocks[0].s.ny);
}

void step(fem2d::State& s, fl::Index) {
  Alone alone;
  s.outcome = fem2d::assemble_and_solve(s, matrix, product, alone);
}

void finish(fem2d::State&) {
  matrix = {};
  product = {};
}

}  // namespace

FL_VARIANT(fem2d, step, .refuse = FL_REFUSE(fem2d, fem2d::needs_small_indices), .setup = FL_HOOK(fem2d, prepare),
           .finish = FL_HOOK(fem2d, finish))
