// native/harness/include/firstlight/split.hpp with C linkage, so that tests can ask it.
#include "firstlight/split.hpp"

namespace {

template <std::size_t D>
bool grid(std::int64_t processes, const std::int64_t* extents, const std::int64_t* wanted, std::int64_t* count) {
  std::array<fl::Index, D> e{}, w{};
  for (std::size_t d = 0; d < D; ++d) e[d] = extents[d], w[d] = wanted[d];
  const auto found = fl::process_grid<D>(processes, e, w);
  if (!found) return false;
  for (std::size_t d = 0; d < D; ++d) count[d] = found->count[d];
  return true;
}

}  // namespace

extern "C" {

void part(std::int64_t n, std::int64_t parts, std::int64_t k, std::int64_t unit, std::int64_t* out) {
  const fl::Part p = unit == 1 ? fl::part(n, parts, k) : fl::part_in_units(n, parts, k, unit);
  out[0] = p.begin;
  out[1] = p.end;
}

std::int64_t part_of(std::int64_t n, std::int64_t parts, std::int64_t i) { return fl::part_of(n, parts, i); }

// 1 and the counts, or 0 where there is none
int process_grid(int dimensions, std::int64_t processes, const std::int64_t* extents, const std::int64_t* wanted, std::int64_t* count) {
  return dimensions == 1   ? grid<1>(processes, extents, wanted, count)
         : dimensions == 2 ? grid<2>(processes, extents, wanted, count)
         : dimensions == 3 ? grid<3>(processes, extents, wanted, count)
                           : grid<4>(processes, extents, wanted, count);
}

// The neighbour of a rank of three dimensions
int neighbour(const std::int64_t* count, int rank, const std::int64_t* step, int periodic) {
  const fl::ProcessGrid<3> g{{count[0], count[1], count[2]}};
  return g.neighbour(rank, {step[0], step[1], step[2]}, {(periodic & 1) != 0, (periodic & 2) != 0, (periodic & 4) != 0});
}

}  // extern "C"
