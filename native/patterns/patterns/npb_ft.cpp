// NPB FT: a three-dimensional Fourier transform. Planes are divided among processes, and an alltoall transposes; beyond as many processes as
// planes, processes form rows and columns, and each of two transposes stays within one of them. A checksum ends each iteration.
#include <array>
#include <bit>

#include "neighbours.hpp"
#include "together.hpp"

namespace fl::patterns {

namespace {

struct Size {
  std::int64_t x, y, z, iterations;
};
constexpr Size sizes[] = {{64, 64, 64, 6},     {128, 128, 32, 6},      {256, 256, 128, 6},    {512, 256, 256, 20},
                          {512, 512, 512, 20}, {2048, 1024, 1024, 25}, {4096, 2048, 2048, 25}};
constexpr std::int64_t complex = 16;

Instance instance(Rank ranks, const Values& v) {
  const Size& n = sizes[value(v, "class")];
  if (!std::has_single_bit(static_cast<unsigned>(ranks)))
    throw Refused("npb_ft needs a power of two; " + std::to_string(ranks) + " processes given");
  const bool planes = ranks <= n.z;
  if (!planes && ranks / n.z > n.y)
    throw Refused("npb_ft of this class has " + std::to_string(n.y * n.z) + " lines at most; " + std::to_string(ranks) +
                  " processes given");
  const std::int64_t own = n.x * n.y * n.z / ranks * complex;
  Instance made{.iterations = n.iterations};
  if (ranks > 1 && planes) made.phases.push_back(together("transpose", Collective::alltoall, own / ranks, all_ranks(ranks)));
  if (!planes) {
    const auto rows = static_cast<Rank>(n.z), columns = ranks / rows;
    made.shape = {columns, rows};
    made.phases.push_back(together("transpose x and z", Collective::alltoall, own / columns, row_of(columns)));
    made.phases.push_back(together("transpose x and y", Collective::alltoall, own / rows, column_of(columns, rows)));
  }
  made.phases.push_back(together("checksum", Collective::reduce, complex, all_ranks(ranks)));
  return made;
}

}  // namespace

FL_PATTERN(npb_ft){
    .name = "npb_ft",
    .title = "NPB FT: transposes of a three-dimensional field",
    .applications = "NPB FT (three-dimensional Fourier transform)",
    .source = "NAS Parallel Benchmarks 3.3, MPI, FT/ft.f; two transposes go before the first iteration",
    .parameters = {{.name = "class", .value = 3, .means = "size of the problem", .words = {"S", "W", "A", "B", "C", "D", "E"}}},
    .small = {"class=S"},
    .instance = instance};

}  // namespace fl::patterns
