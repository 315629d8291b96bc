// Threads, each with a block of its own, a V-cycle as preconditioner.
#include "multigrid.hpp"
#include "threads.hpp"

namespace {

std::vector<std::vector<fem2d::Grid>> z;

struct Thread {
  fem2d::Crew& crew;
  int me;

  void sum(double* values, fl::Index count) {
    crew.sum(me, values, count, [](double*, fl::Index) {});
  }
  void swap(fem2d::Block&, std::size_t) {
#pragma omp barrier
  }
};

void first_touch(fem2d::State& s) {
#pragma omp parallel num_threads(s.team.threads)
  fem2d::place(s.blocks[static_cast<std::size_t>(omp_get_thread_num())]);
}

void prepare(fem2d::State& s) {
  z.resize(s.blocks.size());
#pragma omp parallel num_threads(s.team.threads)
  {
    const auto me = static_cast<std::size_t>(omp_get_thread_num());
    z[me] = fem2d::corrections(s.blocks[me]);
  }
}

void step(fem2d::State& s, fl::Index) {
  fem2d::Crew crew(s);
  crew.connect();
#pragma omp parallel num_threads(s.team.threads)
  {
    const int me = omp_get_thread_num();
    const auto mine = static_cast<std::size_t>(me);
    Thread thread{crew, me};
    const fem2d::Outcome outcome = fem2d::Multigrid<Thread>(s, mine, z[mine], thread).solve();
    if (me == 0) s.outcome = outcome;
  }
}

void finish(fem2d::State&) { z.clear(); }

}  // namespace

FL_VARIANT(fem2d, step, .first_touch = FL_HOOK(fem2d, first_touch), .setup = FL_HOOK(fem2d, prepare), .finish = FL_HOOK(fem2d, finish),
           .traits = fem2d::threads_are_blocks | fem2d::another_preconditioner)
