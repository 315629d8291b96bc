// The coarser levels of the preconditioner in 32 bits; messages carry 64.
#include "messages.hpp"
#include "solver.hpp"

namespace {

struct Rank {
  fem2d::Mail mail;

  void sum(double* values, fl::Index count) { fem2d::sum_over_ranks(values, count); }
  void swap(fem2d::Block&) { mail.swap(); }
};

void step(fem2d::State& s, fl::Index) {
  Rank rank{{s, fem2d::Mail::whole}};
  s.outcome = fem2d::Solver<Rank, float>(s, 0, rank).chronopoulos_gear();
}

}  // namespace

FL_VARIANT(fem2d, step, .traits = fem2d::coarse_in_32_bits)
