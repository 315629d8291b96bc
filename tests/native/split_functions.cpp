// Exports native/harness/include/firstlight/split.hpp with C linkage for tests.
#include "firstlight/split.hpp"

namespace {

template <std::size_t D>
bool grid(long long processes, const long long* extents, const long long* wanted, const long long* costs, long long* count) {
  std::array<fl::Index, D> e{}, w{};
  std::array<double, D> of_faces{};
  for (std::size_t d = 0; d < D; ++d) e[d] = extents[d], w[d] = wanted[d], of_faces[d] = static_cast<double>(costs[d]);
  const auto found = fl::process_grid<D>(processes, e, w, fl::NoEmptyPart(), of_faces);
  if (!found) return false;
  for (std::size_t d = 0; d < D; ++d) count[d] = found->count[d];
  return true;
}

}  // namespace

extern "C" {

void part(long long n, long long parts, long long k, long long unit, long long* out) {
  const fl::Part p = unit == 1 ? fl::part(n, parts, k) : fl::part_in_units(n, parts, k, unit);
  out[0] = p.begin;
  out[1] = p.end;
}

long long part_of(long long n, long long parts, long long i) { return fl::part_of(n, parts, i); }

// 1 and the counts, or 0 where there is none
int process_grid(int dimensions, long long processes, const long long* extents, const long long* wanted, const long long* costs,
                 long long* count) {
  return dimensions == 1   ? grid<1>(processes, extents, wanted, costs, count)
         : dimensions == 2 ? grid<2>(processes, extents, wanted, costs, count)
         : dimensions == 3 ? grid<3>(processes, extents, wanted, costs, count)
                           : grid<4>(processes, extents, wanted, costs, count);
}

// The neighbour of a rank of three dimensions
int neighbour(const long long* count, int rank, const long long* step, int periodic) {
  const fl::ProcessGrid<3> g{{count[0], count[1], count[2]}};
  return g.neighbour(rank, {step[0], step[1], step[2]}, {(periodic & 1) != 0, (periodic & 2) != 0, (periodic & 4) != 0});
}

}  // extern "C"
