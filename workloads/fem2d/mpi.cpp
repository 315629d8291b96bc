// One block a process, the form of Chronopoulos and Gear: one exchange and two sums an iteration, one of them of the coarse nodes.
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
  s.outcome = fem2d::Solver<Rank>(s, 0, rank).chronopoulos_gear();
}

}  // namespace

FL_VARIANT(fem2d, step)
