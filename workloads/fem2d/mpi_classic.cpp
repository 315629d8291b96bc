// One block a process, the classic form, as the report describes it: one exchange, the coarse nodes and two scalars in three sums an iteration.
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
  s.outcome = fem2d::Solver<Rank>(s, 0, rank).classic();
}

}  // namespace

FL_VARIANT(fem2d, step)
