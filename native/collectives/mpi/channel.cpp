#include <algorithm>
#include <cmath>
#include <functional>

#include "firstlight/collectives/executor.hpp"

namespace fl::collectives {

Channel::Channel(MPI_Comm comm) {
  MPI_Comm_dup(comm, &comm_);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &ranks);
  rank_ = rank;
  ranks_ = ranks;
}

Channel::~Channel() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

std::int64_t elements_of(Collective collective, std::int64_t count, Rank ranks) {
  if (collective == Collective::barrier) return 0;
  const bool blocks = collective == Collective::allgather || collective == Collective::reduce_scatter || collective == Collective::alltoall;
  return blocks ? count * ranks : count;
}

std::int32_t automatic_segments(const Algorithm& algorithm, Collective collective, double bytes, Rank ranks) {
  constexpr double segment = 65536, most = 64;
  // Between two ranks a message has nowhere to go on to; a sum can be added to while the next piece arrives.
  if (!algorithm.pipelined || (ranks <= 2 && collective == Collective::broadcast)) return 1;
  return static_cast<std::int32_t>(std::clamp(std::round(bytes / segment), 1.0, most));
}

std::vector<Rank> balanced_shape(Rank ranks) {
  std::vector<Rank> factors, shape(3, 1);
  for (Rank factor = 2, left = ranks; left > 1; ++factor)
    for (; left % factor == 0; left /= factor) factors.push_back(factor);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) *std::ranges::min_element(shape) *= *factor;
  std::ranges::sort(shape, std::greater<>());
  return shape;
}

Schedule schedule_for(const Algorithm& algorithm, Collective collective, Rank ranks, Rank root, std::int32_t segments, double bytes) {
  Problem problem{.collective = collective, .ranks = ranks, .root = root};
  problem.segments = !algorithm.pipelined ? 1 : segments > 0 ? segments : automatic_segments(algorithm, collective, bytes, ranks);
  if (algorithm.torus) problem.shape = balanced_shape(ranks);
  return schedule(algorithm, problem);
}

}  // namespace fl::collectives
