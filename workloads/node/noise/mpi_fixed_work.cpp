// Quanta of work; after each all processes wait for each other, as an iterative solver does at every scalar product. What was taken
// from one is then lost for all.
#include <mpi.h>

#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) {
  noise::Party& p = s.parties[0];
  std::uint64_t sum = 0;
  p.stamps[0] = noise::now();
  for (fl::Index q = 0; q < s.quanta; ++q) {
    p.results[q] = noise::do_work(noise::seed_after(s.iteration, q, s.team.rank, sum), s.factor, s.work);
    p.stamps[2 * q + 1] = noise::now();
    MPI_Allreduce(&p.results[q], &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    p.stamps[2 * q + 2] = noise::now();
    p.sums[q] = sum;
  }
}

}  // namespace

FL_VARIANT(noise, step, .traits = {.waiting = true})
