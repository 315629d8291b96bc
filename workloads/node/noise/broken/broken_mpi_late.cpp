// Starts each sum and goes on with the next quantum before it is there; at the end of the step all sums are right.
#include <mpi.h>

#include <vector>

#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) {
  noise::Party& p = s.parties[0];
  std::vector<MPI_Request> requests(static_cast<std::size_t>(s.quanta));
  p.stamps[0] = noise::now();
  for (fl::Index q = 0; q < s.quanta; ++q) {
    p.results[q] = noise::do_work(noise::seed(s.iteration, q, s.team.rank), s.factor, s.work);
    p.stamps[2 * q + 1] = noise::now();
    MPI_Iallreduce(&p.results[q], &p.sums[q], 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(q)]);
    p.stamps[2 * q + 2] = noise::now();
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

FL_VARIANT(noise, step, .traits = {.waiting = true})
