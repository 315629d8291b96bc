// Where the pages of the inputs lie: near the threads that compute on them.
#pragma once

#include "../threads.hpp"
#include "state.hpp"

namespace cfd_solver {

// Each thread touches first what it computes on: rows of every plane, or planes where both colours go at once.
inline void place(State& s) {
  const Point size = s.block.size();
#pragma omp parallel num_threads(s.team.threads)
  {
    const bool planes = s.params.kernel == Kernel::red_black;
    const Index me = omp_get_thread_num(), all = omp_get_num_threads();
    const fl::Part k = planes ? cfd::Threads::planes(size, all, me) : fl::Part{0, size[0]};
    const fl::Part j = planes ? fl::Part{0, size[1]} : cfd::Threads::rows(size, all, me);
    each_field(s, [&](Field& field) {
      grid::each_row(grid::Box<3>{{k.begin, j.begin, 0}, {k.end, j.end, size[2]}},
                     [&](const Point& x, Index count) { std::fill_n(&field[x], count, 0.0); });
    });
  }
}

}  // namespace cfd_solver
