// Processes of threads, each thread with a block of its own; the first thread of a process talks to the others.
#include "kernels/messages.hpp"
#include "kernels/solver.hpp"
#include "kernels/threads.hpp"

namespace {

struct Thread {
  fem2d::Crew& crew;
  fem2d::Mail& mail;
  int me;

  void sum(double* values, fl::Index count) { crew.sum(me, values, count, fem2d::sum_over_ranks); }
  void swap(fem2d::Block&) {
#pragma omp barrier
    if (me == 0) mail.swap();
#pragma omp barrier
  }
};

void step(fem2d::State& s, fl::Index) {
  fem2d::Crew crew(s);
  crew.connect();
  fem2d::Mail mail(s, fem2d::Mail::whole);
  fem2d::in_threads(s, [&](int me) {
    Thread thread{crew, mail, me};
    return fem2d::Solver<Thread>(s, static_cast<std::size_t>(me), thread).chronopoulos_gear();
  });
}

}  // namespace

FL_VARIANT(fem2d, step, .first_touch = fem2d::first_touch, .traits = {.threads_are_blocks = true})
