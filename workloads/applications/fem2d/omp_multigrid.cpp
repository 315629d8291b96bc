// Threads, each with a block of its own, a V-cycle as preconditioner.
#include "kernels/multigrid.hpp"
#include "kernels/threads.hpp"

namespace {

struct Solution {
  std::vector<std::vector<fem2d::Grid>> z;

  void open(fem2d::State& s) {
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
    fem2d::in_threads(s, [&](int me) {
      const auto mine = static_cast<std::size_t>(me);
      fem2d::Thread thread{crew, me};
      return fem2d::Multigrid<fem2d::Thread>(s, mine, z[mine], thread).solve();
    });
  }
};

}  // namespace

FL_VARIANT(fem2d, Solution, .first_touch = fem2d::first_touch,
           .traits = {.threads_are_blocks = true, .another_preconditioner = true, .work = fem2d::v_cycle})
