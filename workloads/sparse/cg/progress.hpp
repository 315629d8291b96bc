// How much of a sum over all processes goes on while they work.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "firstlight/role.hpp"

namespace cg::inline FL_ROLE {

// Collective. A process's share of the time of an MPI_Iallreduce by itself that is not added to that of work() between its start and its
// wait; there is so much work that all of it could be. Medians.
template <class Work>
double hidden(Work work) {
  constexpr int rounds = 15, most_repeats = 1000;
  std::array<double, 3> values{};
  const auto time = [&](int repeats, bool sum) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    MPI_Request request = MPI_REQUEST_NULL;
    if (sum) MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int k = 0; k < repeats; ++k) work();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return MPI_Wtime() - begun;
  };
  using Times = std::array<double, rounds>;
  const auto median = [](Times times) {
    std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
    return times[rounds / 2];
  };
  Times sums, works, both;
  for (double& t : sums) t = time(0, true);
  for (double& t : works) t = time(1, false);
  const double sum = median(sums), enough = std::ceil(2 * sum / median(works));
  int repeats = static_cast<int>(std::clamp(enough, 1., static_cast<double>(most_repeats)));
  MPI_Allreduce(MPI_IN_PLACE, &repeats, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int k = 0; k < rounds; ++k) {
    works[static_cast<std::size_t>(k)] = time(repeats, false);
    both[static_cast<std::size_t>(k)] = time(repeats, true);
  }
  return std::clamp((sum + median(works) - median(both)) / sum, 0., 1.);
}

}  // namespace cg::inline FL_ROLE
