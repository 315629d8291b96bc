// Threads: rows of every plane in a pipeline where a row needs the one before, planes where both colours go in one pass.
#include "../threads.hpp"
#include "../vector_rows.hpp"
#include "solvers.hpp"

namespace {

using Solvers = cfd_solver::Solvers<cfd::Threads, cfd::VectorRows, true>;

// Each thread touches first what it computes on: rows of every plane, or planes where both colours go at once.
void place(cfd_solver::State& s) {
  const cfd::Point size = s.block.size();
#pragma omp parallel num_threads(s.team.threads)
  {
    const bool planes = s.params.kernel == cfd_solver::Kernel::red_black;
    const fl::Index me = omp_get_thread_num(), all = omp_get_num_threads();
    const fl::Part k = planes ? cfd::Threads::planes(size, all, me) : fl::Part{0, size[0]};
    const fl::Part j = planes ? fl::Part{0, size[1]} : cfd::Threads::rows(size, all, me);
    cfd_solver::each_field(s, [&](cfd::Field& field) {
      cfd::grid::each_row(cfd::grid::Box<3>{{k.begin, j.begin, 0}, {k.end, j.end, size[2]}},
                          [&](const cfd::Point& x, fl::Index count) { std::fill_n(&field[x], count, 0.0); });
    });
  }
}

}  // namespace

FL_KERNELS(cfd_solver, Solvers::table, .first_touch = place, .traits = {.colours_together = true})
