// One block a process, a V-cycle as preconditioner: two exchanges a level instead of one for all, for a fifth of the iterations.
#include "messages.hpp"
#include "multigrid.hpp"

namespace {

std::vector<fem2d::Grid> z;

struct Rank {
  fem2d::Mail mail;

  void sum(double* values, fl::Index count) { fem2d::sum_over_ranks(values, count); }
  void swap(fem2d::Block&, std::size_t part) { mail.swap(part); }
};

void prepare(fem2d::State& s) { z = fem2d::corrections(s.blocks[0]); }

void step(fem2d::State& s, fl::Index) {
  Rank rank{{s, fem2d::Mail::levels}};
  s.outcome = fem2d::Multigrid<Rank>(s, 0, z, rank).solve();
}

void finish(fem2d::State&) { z.clear(); }

}  // namespace

FL_VARIANT(fem2d, step, .setup = FL_HOOK(fem2d, prepare), .finish = FL_HOOK(fem2d, finish), .traits = fem2d::another_preconditioner)
