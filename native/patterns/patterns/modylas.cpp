// Molecular dynamics with the fast multipole method: every process receives the multipoles of the coarse cells, and sums a few scalars.
#include "neighbours.hpp"
#include "together.hpp"

namespace fl::patterns {

namespace {

Instance instance(Rank ranks, const Values& v) {
  const std::int64_t order = value(v, "order"), moments = (order + 1) * (order + 1) * 16;  // complex numbers
  const std::int64_t cells = (value(v, "cells") + ranks - 1) / ranks;
  return {.iterations = 1000,
          .phases = {together("multipoles", Collective::allgather, cells * moments, all_ranks(ranks)),
                     together("energy and virial", Collective::allreduce, 8 * value(v, "scalars"), all_ranks(ranks))}};
}

}  // namespace

FL_PATTERN(modylas){
    .name = "modylas",
    .title = "molecular dynamics: allgather of multipoles, allreduce of scalars",
    .applications = "MODYLAS (molecular dynamics)",
    .source = "allgather and allreduce by R4's table of applications; sizes are parameters: moments of the expansion to an order",
    .parameters = {{.name = "cells", .value = 4096, .least = 1, .most = 1 << 24, .means = "coarse cells of all processes"},
                   {.name = "order", .value = 4, .least = 0, .most = 20, .means = "order of the multipole expansion"},
                   {.name = "scalars", .value = 7, .least = 1, .most = 1000, .means = "energy and the virial's entries"}},
    .small = {"cells=64"},
    .instance = instance};

}  // namespace fl::patterns
