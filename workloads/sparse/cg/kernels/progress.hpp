// How much of a sum over all processes goes on while they work.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cg {

struct Progress {
  double hidden =
      -1;  // a process's share of the time of an MPI_Iallreduce by itself that is not added to that of the work; -1: not measured
  int wrong_sums = 0;
};

// Collective. Of work() between the start of an MPI_Iallreduce and its wait, so much that all of the sum could go on behind it. Medians.
template <class Work>
Progress progress(Work work) {
  constexpr int rounds = 15, most_repeats = 1000;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double all = ranks;
  const std::array<double, 3> wanted{all, all * (all + 1) / 2, all / 2};
  Progress found;
  const auto time = [&](int repeats, bool sum) {
    std::array<double, 3> values{1, rank + 1., 0.5};
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    MPI_Request request = MPI_REQUEST_NULL;
    if (sum) MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int k = 0; k < repeats; ++k) work();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double taken = MPI_Wtime() - begun;
    if (sum && values != wanted) ++found.wrong_sums;
    return taken;
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
  found.hidden = std::clamp((sum + median(works) - median(both)) / sum, 0., 1.);
  return found;
}

}  // namespace cg
