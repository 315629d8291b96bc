// Threads, each with a block of its own, in one address space.
#include "kernels/solver.hpp"
#include "kernels/threads.hpp"

namespace {

void step(fem2d::State& s, fl::Index) {
  fem2d::Crew crew(s);
  crew.connect();
  fem2d::in_threads(s, [&](int me) {
    fem2d::Thread thread{crew, me};
    return fem2d::Solver<fem2d::Thread>(s, static_cast<std::size_t>(me), thread).chronopoulos_gear();
  });
}

}  // namespace

FL_VARIANT(fem2d, step, .first_touch = fem2d::first_touch, .traits = {.threads_are_blocks = true})
